df.write.format("delta").mode("overwrite").option("overwriteSchema", "true").partitionBy("d").saveAsTable("x")
