from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def save(batch, number):
    batch.write.format("org.apache.spark.sql.cassandra").mode("append").options(keyspace="shop", table="visits").save()


spark.readStream.format("kafka").load().writeStream.foreachBatch(save).option("checkpointLocation", "/chk").start()
