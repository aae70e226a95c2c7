class Sink:
    def __init__(self, url): self.url = url
    def write_batch(self, df, epoch):
        df.persist()
        df.write.format("jdbc").option("url", self.url).option("dbtable", "public.events").mode("append").save()  # expect: SW702
        df.unpersist()
    def run(self, spark):
        (spark.readStream.format("kafka").option("subscribe", "e").load()
            .writeStream.foreachBatch(self.write_batch).option("checkpointLocation", "/c").start())
