from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
new = spark.read.parquet("/in").dropDuplicates(["id"])
old = spark.table("silver.tx").select("id")
new.join(old, on="id", how="left_anti").write.mode("append").saveAsTable("silver.tx")