def upsert(spark, path):
    batch = spark.read.parquet(path).dropDuplicates(["user_id"])
    batch.createOrReplaceTempView("updates")
    spark.sql("MERGE INTO users t USING updates s ON t.user_id = s.user_id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
