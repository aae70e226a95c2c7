from pyspark.sql import SparkSession


def load(spark: SparkSession, batch: int) -> None:
    df = spark.read.json("/mnt/landing/events")
    df.write.format("delta").option("txnAppId", "events-loader").option("txnVersion", batch).mode("append").save("/mnt/bronze/events")
