def append_new_events(spark, batch_date):
    incoming = spark.read.parquet(f"/landing/events/{batch_date}").dropDuplicates(["event_id"])
    existing = spark.table("silver.events").select("event_id")
    fresh = incoming.join(existing, "event_id", "left_anti")
    fresh.write.format("delta").mode("append").saveAsTable("silver.events")
