import duckdb


def more():
    con = duckdb.connect("shop.duckdb")
    # expect: SW102
    con.execute("INSERT INTO visits SELECT * FROM 'feb.parquet'")
