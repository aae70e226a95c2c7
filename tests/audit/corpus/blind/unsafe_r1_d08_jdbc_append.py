from pyspark.sql import SparkSession
import os

spark = SparkSession.builder.getOrCreate()
df = spark.read.parquet("s3://curated/invoices/2024/05/")
props = {"user": os.environ["DB_USER"], "password": os.environ["DB_PASSWORD"], "driver": "org.postgresql.Driver"}
# expect: SW101
df.write.jdbc(url=os.environ["JDBC_URL"], table="billing.invoices", mode="append", properties=props)
