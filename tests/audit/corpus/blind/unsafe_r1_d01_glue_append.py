import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "day"])
glue = GlueContext(SparkContext())
spark = glue.spark_session
job = Job(glue)
job.init(args["JOB_NAME"], args)

df = spark.read.json(f"s3://raw/orders/{args['day']}/")
df = df.withColumnRenamed("orderId", "order_id")
# expect: SW101
df.write.mode("append").partitionBy("day").parquet("s3://curated/orders/")

job.commit()
