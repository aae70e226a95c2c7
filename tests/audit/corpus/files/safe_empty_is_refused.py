def publish(spark, df):
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    if df.isEmpty():
        raise ValueError("nothing to publish")
    df.write.mode("overwrite").insertInto("gold.orders")
