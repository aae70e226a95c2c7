import polars as pl
df = pl.read_csv("x.csv")
df.write_database("t", "postgresql://x", if_table_exists="append")  # expect: SW101
