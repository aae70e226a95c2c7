import json
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window


def read(spark: SparkSession, conf: dict[str, Any]) -> DataFrame:
    return spark.read.format(conf["format"]).options(**conf.get("options", {})).load(conf["path"])


def dedup(df: DataFrame, keys: list[str], order: str) -> DataFrame:
    w = Window.partitionBy(*keys).orderBy(F.col(order).desc(), F.col("_file").desc(), F.col("_pos").desc())
    return df.withColumn("_rn", F.row_number().over(w)).where("_rn = 1").drop("_rn")


def write(df: DataFrame, conf: dict[str, Any]) -> None:
    w = df.write.format(conf["format"]).mode(conf["mode"])
    if conf.get("partition_by"):
        w = w.partitionBy(*conf["partition_by"])
    w.saveAsTable(conf["table"])  # expect: SW101 note


def main(path: str) -> None:
    spark = SparkSession.builder.getOrCreate()
    with open(path) as f:
        conf = json.load(f)
    df = read(spark, conf["source"])
    if "keys" in conf:
        df = dedup(df, conf["keys"], conf["order"])
    write(df, conf["target"])


if __name__ == "__main__":
    main(sys.argv[1])