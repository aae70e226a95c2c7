import duckdb


def main(path):
    con = duckdb.connect("warehouse.duckdb")
    con.execute("CREATE TABLE IF NOT EXISTS trips (id BIGINT, started_at TIMESTAMP, km DOUBLE)")
    con.execute("INSERT INTO trips SELECT id, started_at, km FROM read_csv_auto(?)", [path])  # expect: SW102
    n = con.execute("SELECT count(*) FROM trips").fetchone()
    print("rows now", n)


if __name__ == "__main__":
    import sys
    main(sys.argv[1])