import pandas as pd
from prefect import flow, task
from sqlalchemy import create_engine


@task(retries=3, retry_delay_seconds=10)  # expect: SW501
def write(df: pd.DataFrame) -> None:
    df.to_sql("trips", create_engine("postgresql://db/dw"), if_exists="append")  # expect: SW101


@flow
def main(path: str) -> None:
    write(pd.read_parquet(path))
