import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mysql+pymysql://etl@db/dw")


def run(path):
    df = pd.read_csv(path)
    existing = pd.read_sql("SELECT order_id FROM orders", engine)
    new_rows = df[~df["order_id"].isin(existing["order_id"])]
    new_rows.to_sql("orders", con=engine, if_exists="append", index=False)
