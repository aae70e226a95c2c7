from delta.tables import DeltaTable
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
updates = spark.read.option("header", True).csv("/mnt/landing/products/")
# expect: SW301
DeltaTable.forPath(spark, "/mnt/silver/products").alias("t").merge(
    updates.alias("s"), "t.sku = s.sku"
).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
