from pyspark.sql import SparkSession, DataFrame


class Fanout:
    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def _write(self, batch: DataFrame, batch_id: int) -> None:
        # expect: SW702
        batch.write.format("delta").mode("append").save("/gold/a")

    def start(self):
        return (
            self.spark.readStream.format("delta").load("/silver/a")
            .writeStream.option("checkpointLocation", "/chk/a")
            .foreachBatch(self._write)
            .start()
        )


Fanout(SparkSession.builder.getOrCreate()).start().awaitTermination()
