import duckdb
import sys

con = duckdb.connect("lake.duckdb")
con.execute("CREATE TABLE IF NOT EXISTS trips (id BIGINT, zone TEXT, fare DOUBLE)")
# expect: SW102
con.execute(f"INSERT INTO trips SELECT * FROM read_csv('{sys.argv[1]}')")
con.close()
