from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
URL = "jdbc:postgresql://db/app"


def save(df, epoch_id):
    # expect: SW702
    df.write.format("jdbc").option("url", URL).option("dbtable", "public.alerts").mode("append").save()


stream = spark.readStream.format("rate").load().filter("value % 100 = 0")
stream.writeStream.option("checkpointLocation", "/chk/alerts").foreachBatch(save).start().awaitTermination()
