from delta.tables import DeltaTable
from pyspark.sql import Window
from pyspark.sql import functions as F


def upsert(spark, path):
    updates = spark.read.json(path)
    w = Window.partitionBy("order_id").orderBy(F.col("updated_at").desc(), F.col("event_id").desc())
    latest = updates.withColumn("rn", F.row_number().over(w)).filter(F.col("rn") == 1).drop("rn")
    (
        DeltaTable.forName(spark, "silver.orders").alias("t")
        .merge(latest.alias("s"), "t.order_id = s.order_id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute()
    )
