def sample(spark):
    df = spark.table("silver.users").limit(1000)  # expect: SW305
    df.write.format("delta").mode("overwrite").saveAsTable("gold.sample")
