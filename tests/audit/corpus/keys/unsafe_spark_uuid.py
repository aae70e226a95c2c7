from pyspark.sql import functions as F


def build(spark):
    df = spark.table("silver.products")
    df = df.withColumn("product_key", F.expr("uuid()"))  # expect: SW302
    df.write.format("delta").mode("overwrite").saveAsTable("gold.products")
