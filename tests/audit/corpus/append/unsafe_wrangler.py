import awswrangler as wr


def handler(event, context):
    df = wr.s3.read_csv(event["path"])
    wr.s3.to_parquet(df=df, path="s3://lake/orders/", dataset=True, mode="append", database="lake", table="orders")  # expect: SW101
