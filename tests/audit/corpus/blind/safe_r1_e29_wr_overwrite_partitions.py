import awswrangler as wr


def handler(event, context):
    day = event["day"]
    df = wr.s3.read_json(f"s3://raw/orders/{day}/")
    if df.empty:
        return {"rows": 0}
    wr.s3.to_parquet(df, path="s3://lake/orders/", dataset=True, database="lake", table="orders", partition_cols=["day"], mode="overwrite_partitions")
    return {"rows": len(df)}
