def publish(spark, df):
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    df.write.mode("overwrite").partitionBy("ds").parquet("s3://lake/events")  # expect: SW204
