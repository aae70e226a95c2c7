def clean(spark):
    df = spark.table("bronze.events").dropDuplicates(["event_id", "ingested_at"])  # expect: SW303
    df.write.format("delta").mode("overwrite").saveAsTable("silver.events")
