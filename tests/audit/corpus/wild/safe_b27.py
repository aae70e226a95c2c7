import duckdb
con = duckdb.connect("x.duckdb")
con.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM read_csv_auto('a.csv')")
con.execute("COPY t TO 'out.parquet' (FORMAT parquet)")
