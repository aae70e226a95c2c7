def run(spark):
    spark.conf.set("spark.sql.streaming.checkpointLocation", "/chk")
    spark.readStream.table("bronze.events").writeStream.toTable("silver.events")
