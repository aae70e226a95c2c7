from delta.tables import DeltaTable
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()


def close_and_open(updates):
    dim = DeltaTable.forName(spark, "gold.dim_customer")
    staged = (
        updates.alias("u").join(dim.toDF().alias("d"), "customer_id")
        .where("d.is_current = true AND u.hash <> d.hash")
        .selectExpr("NULL AS merge_key", "u.*")
        .union(updates.selectExpr("customer_id AS merge_key", "*"))
    )
    (
        dim.alias("d").merge(staged.alias("s"), "d.customer_id = s.merge_key")  # expect: SW301 note
        .whenMatchedUpdate(condition="d.is_current = true AND d.hash <> s.hash", set={"is_current": "false", "end_date": "s.effective"})
        .whenNotMatchedInsert(values={"customer_id": "s.customer_id", "hash": "s.hash", "is_current": "true", "effective": "s.effective"})
        .execute()
    )


updates = spark.table("silver.customers").dropDuplicates(["customer_id"])
close_and_open(updates)