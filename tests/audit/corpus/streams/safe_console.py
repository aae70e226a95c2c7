def peek(spark):
    spark.readStream.format("rate").load().writeStream.format("console").start()
