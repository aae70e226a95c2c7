from delta.tables import DeltaTable


def upsert(batch_df, batch_id):
    latest = batch_df.dropDuplicates(["order_id"])
    (
        DeltaTable.forName(batch_df.sparkSession, "silver.orders").alias("t")
        .merge(latest.alias("s"), "t.order_id = s.order_id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute()
    )


def run(spark):
    spark.readStream.table("bronze.orders").writeStream.foreachBatch(upsert).option("checkpointLocation", "/chk/o").start()
