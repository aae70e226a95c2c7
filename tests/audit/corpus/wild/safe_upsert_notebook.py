# Databricks notebook source
from delta.tables import DeltaTable

def upsert_to_silver(df, epoch_id):
    df = df.dropDuplicates(["id", "value"])
    if DeltaTable.isDeltaTable(spark, silver_path):
        (DeltaTable.forPath(spark, silver_path).alias("silver")
          .merge(source=df.alias("updates"), condition="silver.id = updates.id and silver.value = updates.value")
          .whenNotMatchedInsertAll().execute())
    else:
        df.write.format("delta").mode("overwrite").save(silver_path)

silver_path = "/mnt/silver"
(spark.readStream.format("delta").load("/mnt/bronze").writeStream.foreachBatch(upsert_to_silver)
   .option("checkpointLocation", "/mnt/chk").trigger(once=True).start())
