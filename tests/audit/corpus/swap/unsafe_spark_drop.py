def rebuild(spark):
    spark.sql("DROP TABLE IF EXISTS gold.customers")  # expect: SW202
    spark.sql("CREATE TABLE gold.customers USING delta AS SELECT * FROM silver.customers")
