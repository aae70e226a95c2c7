import boto3
import io
import pandas as pd

s3 = boto3.client("s3")


def handler(event, context):
    for rec in event["Records"]:
        key = rec["s3"]["object"]["key"]
        body = s3.get_object(Bucket="in", Key=key)["Body"].read()
        df = pd.read_csv(io.BytesIO(body))
        out = io.BytesIO()
        df.to_parquet(out)
        s3.put_object(Bucket="out", Key=key.replace(".csv", ".parquet"), Body=out.getvalue())
    return {"ok": True}