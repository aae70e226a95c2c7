from pyspark.sql import SparkSession
from delta import DeltaTable
def scd(spark, updates):
    updates = updates.dropDuplicates(["id"])
    (DeltaTable.forName(spark, "d").alias("d").merge(updates.alias("u"), "d.id = u.id AND d.current = true")
      .whenMatchedUpdate(condition="d.h <> u.h", set={"current": "false"}).whenNotMatchedInsertAll().execute())
