import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from awsglue.dynamicframe import DynamicFrame
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue = GlueContext(SparkContext.getOrCreate())
job = Job(glue)
job.init(args["JOB_NAME"], args)
source = glue.create_dynamic_frame.from_catalog(database="raw", table_name="users", transformation_ctx="source")
frame = source.toDF().dropDuplicates(["user_id"])
frame.write.format("delta").mode("overwrite").save("s3://curated/users_delta/")
job.commit()
