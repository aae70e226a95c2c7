import pickle
import sqlite3
import time


class Cache:
    def __init__(self, path):
        self._db = sqlite3.connect(path)
        self._db.execute("CREATE TABLE IF NOT EXISTS cache (key TEXT PRIMARY KEY, value BLOB, at REAL)")

    def get(self, key):
        row = self._db.execute("SELECT value FROM cache WHERE key = ?", (key,)).fetchone()
        return pickle.loads(row[0]) if row else None

    def set(self, key, value):
        with self._db:
            self._db.execute("DELETE FROM cache WHERE key = ?", (key,))
            self._db.execute("INSERT INTO cache VALUES (?, ?, ?)", (key, pickle.dumps(value), time.time()))
