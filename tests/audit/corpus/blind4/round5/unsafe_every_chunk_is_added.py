import pandas as pd
from sqlalchemy import create_engine

ENGINE = create_engine("sqlite:///shop.db")

for chunk in pd.read_csv("landing/visits.csv", chunksize=50_000):
    chunk.to_sql("visits", ENGINE, if_exists="append", index=False)  # expect: SW101
