from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
lines = spark.readStream.schema("id INT").json("/in")
q = (lines.groupBy("id").count().writeStream.outputMode("complete").format("delta").start("/out"))  # expect: SW701
q.awaitTermination()
