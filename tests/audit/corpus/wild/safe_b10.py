from pyspark.sql import SparkSession, functions as F
def main(day):
    spark = SparkSession.builder.appName("agg").getOrCreate()
    sales = spark.read.table("silver.sales").where(F.col("day") == day)
    agg = sales.groupBy("store_id", "day").agg(F.sum("amount").alias("amount"))
    agg.writeTo("gold.sales_by_store").overwrite(F.col("day") == F.lit(day))
