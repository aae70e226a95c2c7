from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("daily-orders").enableHiveSupport().getOrCreate()


def main(run_date: str) -> None:
    df = spark.read.option("header", True).csv(f"s3a://landing/orders/{run_date}/*.csv")
    cleaned = df.filter("order_id is not null").withColumnRenamed("ts", "order_ts")
    cleaned.write.mode("append").saveAsTable("sales.orders")  # expect: SW101


if __name__ == "__main__":
    import sys

    main(sys.argv[1])
