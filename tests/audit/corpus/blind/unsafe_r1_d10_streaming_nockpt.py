from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
raw = spark.readStream.schema("id string, v double").json("/landing/sensors")
# expect: SW701
raw.writeStream.format("parquet").option("path", "/lake/sensors").start().awaitTermination()
