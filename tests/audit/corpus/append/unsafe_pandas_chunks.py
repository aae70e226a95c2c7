import pandas as pd
from sqlalchemy import create_engine


def ingest(params):
    engine = create_engine(f"postgresql://{params.user}:{params.password}@{params.host}/{params.db}")
    df_iter = pd.read_csv(params.csv, iterator=True, chunksize=100000)
    for df in df_iter:
        df.tpep_pickup_datetime = pd.to_datetime(df.tpep_pickup_datetime)
        df.to_sql(name="yellow_taxi_trips", con=engine, if_exists="append")  # expect: SW101
