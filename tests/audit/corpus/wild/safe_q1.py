from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
last = spark.sql("SELECT MAX(updated_at) FROM silver.orders").collect()[0][0]
new = spark.table("bronze.orders").filter(f"updated_at > '{last}'")
new.write.format("delta").mode("append").saveAsTable("silver.orders")
