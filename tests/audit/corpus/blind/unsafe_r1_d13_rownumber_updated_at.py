from pyspark.sql import SparkSession, Window
from pyspark.sql.functions import col, row_number

spark = SparkSession.builder.getOrCreate()
# expect: SW304
w = Window.partitionBy("device_id").orderBy(col("event_date").desc())
df = spark.table("bronze.devices").withColumn("rn", row_number().over(w)).filter(col("rn") == 1)
df.drop("rn").write.format("delta").mode("overwrite").saveAsTable("silver.devices")
