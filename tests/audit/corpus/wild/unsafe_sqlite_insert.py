import sqlite3
import requests

def main():
    con = sqlite3.connect("data.db")
    data = requests.get("https://x/api").json()
    con.executemany("INSERT INTO items VALUES (?, ?)", [(d["id"], d["n"]) for d in data])  # expect: SW103
    con.commit()

main()
