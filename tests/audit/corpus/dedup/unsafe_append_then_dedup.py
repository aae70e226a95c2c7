def load(spark, path):
    new = spark.read.json(path)
    new.write.format("delta").mode("append").saveAsTable("bronze.orders")  # expect: SW101
    everything = spark.table("bronze.orders").dropDuplicates(["order_id"])
    everything.write.format("delta").mode("overwrite").saveAsTable("bronze.orders")  # expect: SW104
