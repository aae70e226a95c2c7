import awswrangler as wr

df = wr.athena.read_sql_query("SELECT * FROM raw.orders WHERE day = '2024-05-01'", database="raw")
wr.s3.to_parquet(df=df, path="s3://lake/orders_clean/", dataset=True, mode="overwrite", database="lake", table="orders_clean")
