import csv
import sqlite3


def export(db, path):
    con = sqlite3.connect(db)
    rows = con.execute("select id, name from people order by id").fetchall()
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["id", "name"])
        w.writerows(rows)


def log_line(path, line):
    with open(path, "a") as f:
        f.write(line + "\n")