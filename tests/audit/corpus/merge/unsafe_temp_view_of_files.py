def upsert(spark, path):
    batch = spark.read.csv(path, header=True)
    batch.createOrReplaceTempView("updates")
    # expect: SW301
    spark.sql("""
        MERGE INTO users t USING updates s ON t.user_id = s.user_id
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
    """)
