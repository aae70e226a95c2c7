from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("orders").getOrCreate()


def load(day: str) -> None:
    orders = spark.read.parquet(f"s3://lake/raw/orders/{day}")
    (
        orders.write.format("delta")
        .mode("overwrite")
        .option("replaceWhere", f"order_date = '{day}'")
        .saveAsTable("sales.orders")
    )
