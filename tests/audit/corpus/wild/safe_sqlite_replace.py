import sqlite3

def main(data):
    con = sqlite3.connect("data.db")
    con.executemany("INSERT OR REPLACE INTO items VALUES (?, ?)", data)
    con.commit()
