from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.readStream.format("rate").load().writeStream.format("console").start().awaitTermination(30)
spark.readStream.format("rate").load().writeStream.format("memory").queryName("t").start()
