def publish(spark, df):
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "DYNAMIC")
    df.write.insertInto("dw.page_views", overwrite=True)  # expect: SW204
