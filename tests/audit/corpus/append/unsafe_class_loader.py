from pyspark.sql import DataFrame, SparkSession


class BronzeWriter:
    def __init__(self, spark: SparkSession, table: str):
        self.spark = spark
        self.table = table
        self.mode = "append"

    def run(self, path: str) -> None:
        df = self.spark.read.json(path)
        self._write(df)

    def _write(self, df: DataFrame) -> None:
        df.write.format("delta").mode(self.mode).saveAsTable(self.table)  # expect: SW101
