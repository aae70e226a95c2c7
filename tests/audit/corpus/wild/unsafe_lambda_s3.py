import boto3, pandas as pd, awswrangler as wr
def lambda_handler(event, context):
    bucket = event["Records"][0]["s3"]["bucket"]["name"]
    key = event["Records"][0]["s3"]["object"]["key"]
    df = wr.s3.read_json(f"s3://{bucket}/{key}")
    wr.s3.to_parquet(df=df, path="s3://out/", dataset=True, database="db", table="t", mode="append")  # expect: SW101
