def refresh(spark, ds):
    spark.sql(f"DELETE FROM gold.sessions WHERE ds = '{ds}'")  # expect: SW201
    spark.sql(f"INSERT INTO gold.sessions SELECT * FROM silver.sessions WHERE ds = '{ds}'")
