from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
orders = spark.read.json("s3a://raw/orders")
orders.groupBy("region").count().write.mode("overwrite").parquet("s3a://curated/orders_by_region")  # expect: SW203
