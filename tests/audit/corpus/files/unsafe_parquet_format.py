def save(df, path):
    # expect: SW203
    df.write.format("parquet").mode("overwrite").partitionBy("country").save(path)
