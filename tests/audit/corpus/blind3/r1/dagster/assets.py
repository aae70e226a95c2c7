import pandas as pd
from dagster import asset, DailyPartitionsDefinition, MaterializeResult
from dagster_duckdb import DuckDBResource

daily = DailyPartitionsDefinition("2024-01-01")


@asset(partitions_def=daily)
def trips(context, database: DuckDBResource) -> None:
    day = context.partition_key
    with database.get_connection() as conn:
        conn.execute(f"""
            create table if not exists trips (day date, id bigint);
            delete from trips where day = '{day}';  -- expect: SW201
            insert into trips select '{day}', id from 'raw/{day}.parquet';
        """)


@asset
def zones() -> pd.DataFrame:
    return pd.read_csv("zones.csv")