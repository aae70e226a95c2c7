from delta.tables import DeltaTable
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
day = "2024-05-01"
# expect: SW201
DeltaTable.forName(spark, "core.visits").delete(f"day = '{day}'")
spark.read.json(f"/landing/visits/{day}").write.format("delta").mode("append").saveAsTable("core.visits")
