import pandas as pd
from sqlalchemy import create_engine, text

engine = create_engine("postgresql+psycopg2://etl@db/warehouse")


def load(day):
    df = pd.read_parquet(f"s3://exports/sales/{day}.parquet")
    with engine.begin() as conn:
        conn.execute(text("DELETE FROM sales WHERE sale_date = :day"), {"day": day})
        df.to_sql("sales", conn, if_exists="append", index=False)
