from dagster import asset, RetryPolicy
import pandas as pd
from sqlalchemy import create_engine

@asset(retry_policy=RetryPolicy(max_retries=3))  # expect: SW501
def prices():
    df = pd.read_csv("x.csv")
    df.to_sql("prices", create_engine("postgresql://x"), if_exists="append")  # expect: SW101
