import sys
from awsglue.context import GlueContext
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from pyspark.sql import functions as F

args = getResolvedOptions(sys.argv, ["JOB_NAME", "day"])
glue = GlueContext(SparkContext.getOrCreate())
spark = glue.spark_session
day = args["day"]

df = spark.read.json(f"s3://raw-clicks/{day}/").withColumn("day", F.lit(day))
(
    df.repartition(8)  # expect: SW101
    .write
    .mode("append")
    .partitionBy("day")
    .parquet("s3://lake/clicks/")
)