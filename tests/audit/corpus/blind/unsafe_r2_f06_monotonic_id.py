from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
# expect: SW302
df = spark.read.parquet("/raw/people").withColumn("person_id", F.monotonically_increasing_id())
df.write.format("delta").mode("overwrite").saveAsTable("core.people")
