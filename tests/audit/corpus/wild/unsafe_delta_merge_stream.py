from delta.tables import DeltaTable
def upsert(micro_df, batch_id):
    target = DeltaTable.forPath(spark, "/silver/t")
    target.alias("t").merge(micro_df.alias("s"), "s.id = t.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()  # expect: SW301
events = spark.readStream.format("kafka").option("subscribe", "x").load()
events.writeStream.foreachBatch(upsert).option("checkpointLocation", "/c").start()
