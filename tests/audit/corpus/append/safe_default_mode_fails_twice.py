from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
df = spark.read.csv("/data/in/customers.csv", header=True)
df.write.parquet("/data/out/customers")
