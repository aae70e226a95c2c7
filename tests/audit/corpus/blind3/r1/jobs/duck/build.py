import duckdb

con = duckdb.connect("warehouse.duckdb")
con.execute("CREATE OR REPLACE TABLE stg_trips AS SELECT * FROM read_parquet('data/trips/*.parquet')")
con.execute("""
    CREATE OR REPLACE TABLE trips_by_hour AS
    SELECT date_trunc('hour', started_at) AS hour, count(*) AS n FROM stg_trips GROUP BY 1
""")
con.execute("COPY trips_by_hour TO 'out/trips_by_hour.parquet' (FORMAT parquet)")
con.close()