from pyspark.sql import SparkSession
spark = (SparkSession.builder.config("spark.sql.sources.partitionOverwriteMode", "dynamic").getOrCreate())
ds = spark.conf.get("job.ds")
out = spark.table("raw.hits").where(f"ds = '{ds}'").groupBy("ds", "page").count()
out.write.mode("overwrite").insertInto("mart.hits")  # expect: SW204