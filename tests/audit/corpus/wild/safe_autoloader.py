(spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").load("/landing")
  .writeStream.option("checkpointLocation", "/chk").trigger(availableNow=True).toTable("bronze.events"))
