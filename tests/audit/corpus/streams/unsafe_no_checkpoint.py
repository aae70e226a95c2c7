def run(spark):
    events = spark.readStream.format("kafka").option("subscribe", "events").load()
    events.writeStream.format("delta").outputMode("append").start("/lake/bronze/events")  # expect: SW701
