import sqlite3

import duckdb


class Index:
    def __init__(self, shops):
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute("CREATE VIRTUAL TABLE shops USING fts5(name, town)")
        self.connection.executemany("INSERT INTO shops VALUES (?, ?)", shops)


def both():
    con = duckdb.connect()
    con.execute("CREATE TABLE visits AS SELECT * FROM 'jan.parquet'")
    con.execute("INSERT INTO visits SELECT * FROM 'feb.parquet'")
    con.execute("COPY visits TO 'both.parquet' (FORMAT parquet)")
