from awsglue.context import GlueContext
from awsglue.job import Job
from pyspark.context import SparkContext

glueContext = GlueContext(SparkContext.getOrCreate())
job = Job(glueContext)
src = glueContext.create_dynamic_frame.from_catalog(database="raw", table_name="orders")
# expect: SW101
glueContext.write_dynamic_frame.from_options(
    frame=src,
    connection_type="s3",
    connection_options={"path": "s3://lake/curated/orders/", "partitionKeys": ["order_date"]},
    format="parquet",
)
job.commit()
