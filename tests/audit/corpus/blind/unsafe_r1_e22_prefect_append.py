import pandas as pd
from prefect import flow, task
from sqlalchemy import create_engine


@task
def extract(path: str) -> pd.DataFrame:
    return pd.read_csv(path)


# expect: SW501
@task(retries=3, retry_delay_seconds=30)
def load(df: pd.DataFrame, table: str) -> None:
    engine = create_engine("postgresql://etl@db/dwh")
    with engine.connect() as conn:
        # expect: SW101
        df.to_sql(name=table, con=conn, if_exists="append", index=False)


@flow
def main(path: str = "trips.csv"):
    load(extract(path), "trips")


if __name__ == "__main__":
    main()
