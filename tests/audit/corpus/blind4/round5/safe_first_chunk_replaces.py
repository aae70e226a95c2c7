import os

import pandas as pd
from sqlalchemy import create_engine

ENGINE = create_engine("sqlite:///shop.db")


def ingest(path, table):
    first = True
    for chunk in pd.read_csv(path, chunksize=50_000):
        if first:
            chunk.to_sql(table, ENGINE, if_exists="replace", index=False)
            first = False
        else:
            chunk.to_sql(table, ENGINE, if_exists="append", index=False)


for name in os.listdir("landing"):
    ingest(f"landing/{name}", name.removesuffix(".csv"))
