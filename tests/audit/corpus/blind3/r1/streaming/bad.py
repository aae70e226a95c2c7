from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
raw = spark.readStream.format("kafka").option("subscribe", "t").load()


class JdbcSink:
    url = "jdbc:postgresql://db/x"

    def __call__(self, df, epoch):
        df.write.format("jdbc").option("url", self.url).option("dbtable", "events").mode("append").save()  # expect: SW101


def write_pg(df, epoch):
    df.persist()
    df.write.jdbc("jdbc:postgresql://db/x", "events2", mode="append", properties={})  # expect: SW702
    df.unpersist()


raw.writeStream.foreachBatch(write_pg).option("checkpointLocation", "/cp/a").start()
raw.writeStream.format("parquet").option("path", "/lake/events").start()  # expect: SW701
spark.streams.awaitAnyTermination()