import pandas as pd
from dagster import AssetExecutionContext, DailyPartitionsDefinition, Definitions, RetryPolicy, asset

daily = DailyPartitionsDefinition(start_date="2024-01-01")


@asset(partitions_def=daily, retry_policy=RetryPolicy(max_retries=3), metadata={"partition_expr": "day"})
def trips(context: AssetExecutionContext) -> pd.DataFrame:
    return pd.read_parquet(f"s3://raw/trips/{context.partition_key}.parquet")


@asset(partitions_def=daily)
def trips_by_zone(trips: pd.DataFrame) -> pd.DataFrame:
    return trips.groupby("zone", as_index=False).size()


defs = Definitions(assets=[trips, trips_by_zone])
