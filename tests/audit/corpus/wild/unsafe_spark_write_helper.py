from pyspark.sql import DataFrame
def write_delta(df: DataFrame, path: str, mode: str = "overwrite", partition=None):
    w = df.write.format("delta").mode(mode)
    if partition:
        w = w.partitionBy(partition)
    w.save(path)  # expect: SW101
def main(spark):
    raw = spark.read.json("/raw")
    write_delta(raw, "/bronze/a", mode="append")
    write_delta(raw, "/bronze/b")
