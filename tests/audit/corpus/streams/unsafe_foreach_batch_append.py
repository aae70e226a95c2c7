def write(batch_df, batch_id):
    batch_df.write.format("jdbc").option("dbtable", "orders").mode("append").save()  # expect: SW702


def run(spark):
    stream = spark.readStream.table("bronze.orders")
    stream.writeStream.foreachBatch(write).option("checkpointLocation", "/chk/orders").start()
