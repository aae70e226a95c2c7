import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.dynamicframe import DynamicFrame

args = getResolvedOptions(sys.argv, ["JOB_NAME", "redshift_conn", "tmp"])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

src = glueContext.create_dynamic_frame.from_catalog(database="crm", table_name="customers", transformation_ctx="src")
mapped = ApplyMapping.apply(frame=src, mappings=[("id", "long", "customer_id", "long"), ("name", "string", "name", "string")])

pre = "CREATE TABLE IF NOT EXISTS stage.customers (customer_id bigint, name varchar(200)); TRUNCATE TABLE stage.customers;"
post = """
begin;
delete from public.customers using stage.customers s where s.customer_id = public.customers.customer_id;
insert into public.customers select * from stage.customers;
drop table stage.customers;
end;
"""
glueContext.write_dynamic_frame.from_jdbc_conf(
    frame=mapped,
    catalog_connection=args["redshift_conn"],
    connection_options={"dbtable": "stage.customers", "database": "dwh", "preactions": pre, "postactions": post},
    redshift_tmp_dir=args["tmp"],
    transformation_ctx="sink",
)
job.commit()