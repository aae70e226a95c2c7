import dlt
from pyspark.sql.functions import col, current_timestamp


@dlt.table(name="orders_bronze", comment="raw orders")
def orders_bronze():
    return spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").load("/landing/orders").withColumn("ingested_at", current_timestamp())


@dlt.view
@dlt.expect_or_drop("has_id", "order_id IS NOT NULL")
def orders_clean():
    return dlt.read_stream("orders_bronze")


dlt.create_streaming_table("orders_silver")
dlt.apply_changes(target="orders_silver", source="orders_clean", keys=["order_id"], sequence_by=col("updated_at"))
