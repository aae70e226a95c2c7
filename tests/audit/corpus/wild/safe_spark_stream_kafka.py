from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("s").getOrCreate()
df = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "b").option("subscribe", "t").load()
query = df.selectExpr("CAST(value AS STRING)").writeStream.outputMode("append").format("parquet").option("path", "/data/out").option("checkpointLocation", "/data/chk").start()
query.awaitTermination()
