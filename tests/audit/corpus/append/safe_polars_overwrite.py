import polars as pl


def publish(path: str) -> None:
    df = pl.read_parquet(path).unique(subset=["id"])
    df.write_database("dim_product", "postgresql://db/dw", if_table_exists="replace")
