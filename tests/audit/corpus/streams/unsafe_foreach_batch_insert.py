def write(batch_df, batch_id):
    batch_df.createOrReplaceTempView("batch")
    batch_df.sparkSession.sql("INSERT INTO silver.orders SELECT * FROM batch")  # expect: SW702


def run(spark):
    spark.readStream.table("b").writeStream.foreachBatch(write).option("checkpointLocation", "/c").start()
