from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
day = spark.conf.get("job.day")
df = spark.sql(f"SELECT * FROM raw.clicks WHERE day = '{day}' AND NOT is_bot")
# expect: SW204
df.writeTo("lake.clicks").overwritePartitions()
