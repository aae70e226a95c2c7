from pyspark.sql import SparkSession, functions as F, Window
from delta.tables import DeltaTable

spark = SparkSession.builder.getOrCreate()


def latest(df):
    w = Window.partitionBy("customer_id").orderBy(F.lit(1))  # expect: SW304
    return df.withColumn("rn", F.row_number().over(w)).filter("rn = 1").drop("rn")


src = latest(spark.read.parquet("s3://x/customers"))
t = DeltaTable.forName(spark, "dim.customers")
t.alias("t").merge(src.alias("s"), "t.customer_id = s.customer_id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

raw = spark.read.json("s3://x/contacts")
t2 = DeltaTable.forPath(spark, "s3://lake/contacts")
t2.alias("t").merge(raw.alias("s"), "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()  # expect: SW301