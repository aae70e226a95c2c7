import sqlite3


class Cache:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.execute("CREATE TABLE IF NOT EXISTS cache (key TEXT PRIMARY KEY, value BLOB)")

    def set(self, key, value):
        self.db.execute("INSERT INTO cache (key, value) VALUES (?, ?)", (key, value))
        self.db.commit()
