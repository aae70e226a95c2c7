import duckdb


def refill(path, table, frame):
    con = duckdb.connect(path)
    # expect: SW201
    con.execute(f"TRUNCATE {table}")
    con.execute(f"INSERT INTO {table} SELECT * FROM frame")
