from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
tmp = "/tmp/stage/orders"
dst = "/lake/orders"
day = "2024-01-01"
spark.read.json("/in").write.mode("overwrite").parquet(tmp)
df = spark.read.parquet(tmp)
df.write.format("delta").mode("overwrite").option("replaceWhere", f"day = '{day}'").save(dst)
spark.sql("OPTIMIZE delta.`/lake/orders`")
spark.sql("VACUUM delta.`/lake/orders` RETAIN 168 HOURS")