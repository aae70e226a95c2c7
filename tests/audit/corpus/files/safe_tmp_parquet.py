def stage(df):
    df.write.mode("overwrite").parquet("/tmp/stage/customers")
