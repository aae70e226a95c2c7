from pyspark.sql import DataFrame


def save(df: DataFrame, table: str, mode: str) -> None:
    """Write a frame the way the caller says."""
    # expect: SW101 note
    df.write.format("delta").mode(mode).saveAsTable(table)


def read(spark, table: str) -> DataFrame:
    return spark.table(table)
