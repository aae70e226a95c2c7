import awswrangler as wr
import boto3

s3 = boto3.client("s3")


def store_watermark(until):
    s3.put_object(Bucket="etl", Key="visits/watermark", Body=until)


def run(source, until):
    rows = source.between(until)
    store_watermark(until)  # expect: SW403
    wr.s3.to_parquet(rows, path=f"s3://lake/visits/{until}.parquet")
