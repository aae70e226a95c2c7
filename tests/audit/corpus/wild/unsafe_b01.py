import pandas as pd, sqlalchemy
def store(frame, db_url, table_name="daily_prices"):
    eng = sqlalchemy.create_engine(db_url)
    with eng.connect() as connection:
        frame.to_sql(table_name, con=connection, if_exists="append", index=False, chunksize=1000)  # expect: SW101
if __name__ == "__main__":
    import yfinance as yf
    store(yf.download("AAPL"), "postgresql://x")
