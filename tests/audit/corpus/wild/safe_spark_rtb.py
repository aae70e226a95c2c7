from pyspark.sql import SparkSession
def process(spark, in_path, out_path):
    df = spark.read.parquet(in_path)
    df.coalesce(1).write.mode("overwrite").option("header", True).csv(out_path)
    df.write.mode("overwrite").json(out_path + "_json")
