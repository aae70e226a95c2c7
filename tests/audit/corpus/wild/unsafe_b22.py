import boto3, json, pandas as pd
from sqlalchemy import create_engine
def save_checkpoint(value):
    boto3.client("s3").put_object(Bucket="b", Key="orders/checkpoint.json", Body=json.dumps({"ts": value}))
def run(since):
    df = pd.read_sql(f"SELECT * FROM orders WHERE updated_at > '{since}'", create_engine("mysql://x"))
    save_checkpoint(str(df["updated_at"].max()))  # expect: SW403
    df.to_parquet(f"s3://lake/orders/{since}.parquet")
