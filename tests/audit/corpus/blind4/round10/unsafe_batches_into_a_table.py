from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def save(batch, number):
    batch.write.jdbc(url="jdbc:postgresql:shop", table="visits", mode="append", properties={})  # expect: SW702


spark.readStream.format("kafka").load().writeStream.foreachBatch(save).option("checkpointLocation", "/chk").start()
