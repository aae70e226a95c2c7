from pyspark.sql import SparkSession, DataFrame

spark = SparkSession.builder.getOrCreate()
APP = "orders-stream"


def write(df: DataFrame, batch_id: int) -> None:
    (
        df.write.format("delta")
        .option("txnAppId", APP)
        .option("txnVersion", batch_id)
        .mode("append")
        .saveAsTable("silver.orders")
    )


(
    spark.readStream.table("bronze.orders")
    .writeStream.foreachBatch(write)
    .option("checkpointLocation", "/chk/orders")
    .start()
)
spark.readStream.table("bronze.orders").writeStream.format("memory").queryName("q").start()
spark.readStream.table("bronze.orders").writeStream.format("kafka").option("topic", "t").option("kafka.bootstrap.servers", "k").option("checkpointLocation", "/chk/k").start()