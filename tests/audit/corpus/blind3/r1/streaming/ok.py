from pyspark.sql import SparkSession, functions as F
from delta.tables import DeltaTable

spark = SparkSession.builder.appName("s").getOrCreate()


def upsert(batch, batch_id):
    latest = batch.groupBy("id").agg(F.max_by(F.struct("*"), "version").alias("r")).select("r.*")
    (
        DeltaTable.forName(batch.sparkSession, "silver.orders").alias("t")
        .merge(latest.alias("s"), "t.id = s.id")
        .whenMatchedUpdateAll(condition="s.version > t.version")
        .whenNotMatchedInsertAll()
        .execute()
    )


events = spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").load("/mnt/landing")
(events.writeStream.foreachBatch(upsert).option("checkpointLocation", "/mnt/cp/orders").trigger(availableNow=True).start())
(events.writeStream.format("delta").outputMode("append").option("checkpointLocation", "/mnt/cp/bronze").toTable("bronze.orders"))
events.writeStream.format("console").start()