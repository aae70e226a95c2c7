from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
# expect: SW305
sample = spark.table("ml.features").filter("label is not null").limit(10000)
sample.write.format("delta").mode("overwrite").saveAsTable("ml.sample")
