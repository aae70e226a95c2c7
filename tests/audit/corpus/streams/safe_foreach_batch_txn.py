def write(batch_df, batch_id):
    batch_df.write.format("delta").option("txnVersion", batch_id).option("txnAppId", "orders").mode("append").save("/silver/orders")


def run(spark):
    spark.readStream.table("bronze.orders").writeStream.foreachBatch(write).option("checkpointLocation", "/chk/o").start()
