from pyspark.sql import SparkSession, functions as F
def main():
    spark = SparkSession.builder.appName("agg").getOrCreate()
    out = "s3a://bucket/gold/sales_by_store"
    sales = spark.read.parquet("s3a://bucket/silver/sales")
    agg = sales.groupBy("store_id", "day").agg(F.sum("amount").alias("amount"))
    agg.repartition("day").write.mode("overwrite").partitionBy("day").parquet(out)  # expect: SW203
main()
