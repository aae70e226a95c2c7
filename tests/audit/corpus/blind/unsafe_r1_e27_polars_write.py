import polars as pl

df = pl.read_csv("s3://landing/visits-2024-05-01.csv").with_columns(pl.col("at").str.to_datetime())
# expect: SW101
df.write_database("visits", "postgresql://etl@db/dwh", if_table_exists="append")
