from delta.tables import DeltaTable
from pyspark.sql import SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()


def upsert(batch, batch_id):
    w = Window.partitionBy("id").orderBy(F.col("seq").desc())
    rows = batch.withColumn("r", F.row_number().over(w)).where("r = 1").drop("r")
    (
        DeltaTable.forName(batch.sparkSession, "silver.accounts").alias("t")
        .merge(rows.alias("s"), "t.id = s.id")
        .whenMatchedUpdateAll("s.seq > t.seq")
        .whenNotMatchedInsertAll()
        .execute()
    )


(
    spark.readStream.table("bronze.accounts")
    .writeStream.foreachBatch(upsert)
    .option("checkpointLocation", "/chk/accounts")
    .start()
)
