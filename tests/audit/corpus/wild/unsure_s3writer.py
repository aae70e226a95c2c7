from pyspark.sql import DataFrame


class S3Writer:
    def write_parquet(self, df: DataFrame, base_path: str, partition_cols: list | None = None, mode: str = "overwrite") -> None:
        writer = df.write.mode(mode)
        if partition_cols:
            writer = writer.partitionBy(*partition_cols)
        writer.parquet(base_path)  # expect: SW203 note
