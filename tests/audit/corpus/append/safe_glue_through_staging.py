import sys

from awsglue.context import GlueContext
from pyspark.context import SparkContext

glueContext = GlueContext(SparkContext())
frame = glueContext.create_dynamic_frame.from_catalog(database="raw", table_name="orders")
pre = "CREATE TABLE IF NOT EXISTS stage_orders (LIKE orders); TRUNCATE stage_orders;"
post = "BEGIN; DELETE FROM orders USING stage_orders s WHERE orders.id = s.id; INSERT INTO orders SELECT * FROM stage_orders; END;"
glueContext.write_dynamic_frame.from_jdbc_conf(
    frame=frame,
    catalog_connection="redshift",
    connection_options={"dbtable": "stage_orders", "database": "dw", "preactions": pre, "postactions": post},
    redshift_tmp_dir="s3://tmp/",
)
