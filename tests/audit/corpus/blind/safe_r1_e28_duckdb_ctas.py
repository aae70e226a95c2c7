import duckdb

con = duckdb.connect("report.duckdb")
con.execute("CREATE OR REPLACE TABLE trips AS SELECT * FROM read_parquet('trips/*.parquet')")
con.execute("COPY (SELECT zone, count(*) AS n FROM trips GROUP BY zone ORDER BY zone) TO 'zones.parquet' (FORMAT parquet)")
print(con.sql("SELECT * FROM trips LIMIT 10").df())
