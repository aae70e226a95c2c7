import sys
from awsglue.utils import getResolvedOptions
from pyspark.sql import SparkSession
args = getResolvedOptions(sys.argv, ["mode", "path"])
spark = SparkSession.builder.getOrCreate()
df = spark.read.parquet("s3://in/")
df = df.repartition(10)
df.write.mode("append").partitionBy("year", "month").parquet("s3://out/table/")  # expect: SW101
