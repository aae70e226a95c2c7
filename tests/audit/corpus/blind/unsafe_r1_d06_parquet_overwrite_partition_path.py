from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
history = spark.read.parquet("s3a://lake/prices")
fresh = spark.read.csv("s3a://landing/prices.csv", header=True)
# expect: SW203
history.unionByName(fresh).dropDuplicates(["isin", "day"]).write.mode("overwrite").parquet("s3a://lake/prices_all")
