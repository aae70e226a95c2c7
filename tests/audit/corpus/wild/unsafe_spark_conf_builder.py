from pyspark.sql import SparkSession
spark = (SparkSession.builder.appName("x").config("spark.sql.sources.partitionOverwriteMode", "dynamic").getOrCreate())
df = spark.read.parquet("/a")
df.write.mode("overwrite").partitionBy("ds").parquet("/b")  # expect: SW204
