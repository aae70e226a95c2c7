import sqlite3
import requests

con = sqlite3.connect("px.db")
con.execute("CREATE TABLE IF NOT EXISTS px (sym TEXT, day TEXT, close REAL)")
for sym in ["A", "B"]:
    data = requests.get(f"https://px.test/{sym}").json()
    rows = [(sym, d["day"], d["close"]) for d in data]
    con.executemany("INSERT INTO px VALUES (?, ?, ?)", rows)  # expect: SW103
con.commit()