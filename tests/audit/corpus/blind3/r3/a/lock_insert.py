import sqlite3


class Cache:
    def __init__(self, path):
        self.c = sqlite3.connect(path)
        self.c.execute("CREATE TABLE IF NOT EXISTS kv (k TEXT PRIMARY KEY, v BLOB)")

    def put_many(self, items):
        self.c.executemany("INSERT OR REPLACE INTO kv VALUES (?, ?)", items)
        self.c.commit()

    def swap(self, items):
        with self.c:
            self.c.execute("DELETE FROM kv")
            self.c.executemany("INSERT INTO kv VALUES (?, ?)", items)