from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
df = spark.table("gold.sales").groupBy("region").agg(F.sum("amount").alias("amount"))
df.limit(10).show()
print(df.count(), df.collect())
