import awswrangler as wr
import pandas as pd


def daily(df: pd.DataFrame) -> None:
    wr.s3.to_parquet(df, path="s3://lake/d", dataset=True, mode="overwrite_partitions", partition_cols=["day"], database="l", table="d")


def raw(df: pd.DataFrame) -> None:
    wr.s3.to_parquet(df, path="s3://lake/raw", dataset=True, mode="append")  # expect: SW101


def redshift(df, con):
    wr.redshift.copy(df, path="s3://tmp/x", con=con, schema="public", table="u", mode="upsert", primary_keys=["id"])


def pg(df, con):
    wr.postgresql.to_sql(df, con=con, schema="public", table="u", mode="upsert", upsert_conflict_columns=["id"])