from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
import sys
d = sys.argv[1]
spark.table("raw.x").where(f"d = '{d}'").write.format("delta").mode("overwrite").save(f"s3://lake/x/d={d}")
spark.sql(f"ALTER TABLE lake.x ADD IF NOT EXISTS PARTITION (d='{d}')")