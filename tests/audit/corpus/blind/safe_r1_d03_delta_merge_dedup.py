from delta.tables import DeltaTable
from pyspark.sql import SparkSession, Window, functions as F

spark = SparkSession.builder.appName("customers").getOrCreate()


def latest(df):
    w = Window.partitionBy("customer_id").orderBy(F.col("updated_at").desc(), F.col("event_id").desc())
    return df.withColumn("rn", F.row_number().over(w)).filter("rn = 1").drop("rn")


updates = latest(spark.read.json("/mnt/landing/customers/2024-05-01"))
target = DeltaTable.forName(spark, "silver.customers")
(
    target.alias("t")
    .merge(updates.alias("s"), "t.customer_id = s.customer_id")
    .whenMatchedUpdateAll(condition="s.updated_at > t.updated_at")
    .whenNotMatchedInsertAll()
    .execute()
)
