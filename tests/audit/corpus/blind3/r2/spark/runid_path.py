import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
run_id = sys.argv[1]
df = spark.read.option("header", True).csv("s3://in/")
df.write.parquet(f"s3://out/run_id={run_id}")
df.write.mode("ignore").parquet(f"s3://out2/run_id={run_id}")
df.coalesce(1).write.mode("errorifexists").csv(f"s3://exports/{run_id}")