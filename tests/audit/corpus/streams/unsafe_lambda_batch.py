def run(spark):
    stream = spark.readStream.table("bronze.orders")
    # expect: SW702
    stream.writeStream.foreachBatch(lambda df, i: df.write.mode("append").saveAsTable("silver.orders")).option("checkpointLocation", "/c").start()
