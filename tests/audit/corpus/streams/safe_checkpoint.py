def run(spark):
    events = spark.readStream.format("kafka").option("subscribe", "events").load()
    (
        events.writeStream.format("delta")
        .option("checkpointLocation", "/chk/events")
        .outputMode("append")
        .toTable("bronze.events")
    )
