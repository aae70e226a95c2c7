import pandas as pd, sqlalchemy
def store(frame, db_url):
    eng = sqlalchemy.create_engine(db_url)
    frame.drop_duplicates(subset=["day"]).to_sql("daily_prices", con=eng, if_exists="replace")
