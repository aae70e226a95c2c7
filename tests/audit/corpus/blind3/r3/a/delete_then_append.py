from delta.tables import DeltaTable
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
day = spark.conf.get("day")
DeltaTable.forName(spark, "gold.kpi").delete(f"day = '{day}'")  # expect: SW201
spark.table("silver.kpi").where(f"day = '{day}'").write.format("delta").mode("append").saveAsTable("gold.kpi")