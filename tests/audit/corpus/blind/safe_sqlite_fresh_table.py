import csv
import sqlite3

conn = sqlite3.connect("x.db")
conn.execute("DROP TABLE IF EXISTS people")
conn.execute("CREATE TABLE people (name TEXT, age INT)")
with open("people.csv") as handle:
    conn.executemany("INSERT INTO people VALUES (?, ?)", csv.reader(handle))
conn.commit()
