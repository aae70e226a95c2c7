def dedup(spark):
    df = spark.table("silver.clicks")
    df.dropDuplicates(["click_id"]).write.format("delta").mode("overwrite").saveAsTable("silver.clicks")  # expect: SW104 note
