from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
APP = "orders-fanout"


def write(batch, batch_id):
    batch.persist()
    for table in ("gold.a", "gold.b"):
        batch.write.format("delta").mode("append").option("txnAppId", f"{APP}-{table}").option("txnVersion", batch_id).saveAsTable(table)
    batch.unpersist()


spark.readStream.table("silver.orders").writeStream.foreachBatch(write).option("checkpointLocation", "/chk/x").start()
