def load(spark, path):
    new = spark.read.json(path).dropDuplicates(["order_id"])
    new.write.format("delta").mode("overwrite").saveAsTable("silver.orders")
