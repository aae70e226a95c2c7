from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
events = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", "broker:9092")
    .option("subscribe", "events")
    .load()
    .select(F.from_json(F.col("value").cast("string"), "id string, ts timestamp").alias("e"))
    .select("e.*")
    .withWatermark("ts", "1 hour")
    .dropDuplicates(["id", "ts"])
)
query = (
    events.writeStream.format("delta")
    .outputMode("append")
    .option("checkpointLocation", "/chk/events")
    .trigger(availableNow=True)
    .toTable("bronze.events")
)
query.awaitTermination()
