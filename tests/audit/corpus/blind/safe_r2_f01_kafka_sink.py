from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
df = spark.readStream.table("silver.orders")
(
    df.select(F.col("order_id").cast("string").alias("key"), F.to_json(F.struct("*")).alias("value"))
    .writeStream.format("kafka")
    .option("kafka.bootstrap.servers", "b:9092")
    .option("topic", "orders")
    .option("checkpointLocation", "/chk/orders_out")
    .start()
)
