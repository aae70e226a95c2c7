def clean(spark):
    raw = spark.table("bronze.kafka_events")
    unique = raw.dropDuplicates(["topic", "partition", "offset"])  # expect: SW306
    unique.write.format("delta").mode("overwrite").saveAsTable("silver.events")
