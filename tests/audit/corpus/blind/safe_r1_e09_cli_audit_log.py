"""Keeps a line of each command that an operator ran."""
import getpass
import sqlite3
import sys


def log(action: str) -> None:
    conn = sqlite3.connect("audit.db")
    conn.execute("CREATE TABLE IF NOT EXISTS log (at TEXT DEFAULT CURRENT_TIMESTAMP, who TEXT, action TEXT)")
    conn.execute("INSERT INTO log (who, action) VALUES (?, ?)", (getpass.getuser(), action))
    conn.commit()


if __name__ == "__main__":
    log(" ".join(sys.argv[1:]))
