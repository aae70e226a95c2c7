def top(spark):
    df = spark.table("silver.users").orderBy("score", "user_id").limit(1000)
    df.write.format("delta").mode("overwrite").saveAsTable("gold.top_users")
