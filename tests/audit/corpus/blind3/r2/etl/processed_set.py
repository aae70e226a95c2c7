import glob
import os
import shutil
import sqlite3

import pandas as pd


def seen(con, name):
    return con.execute("SELECT 1 FROM processed WHERE name = ?", (name,)).fetchone() is not None


def main():
    con = sqlite3.connect("dw.db")
    for f in glob.glob("in/*.csv"):
        name = os.path.basename(f)
        if seen(con, name):
            continue
        df = pd.read_csv(f)
        with con:
            df.to_sql("sales", con, if_exists="append", index=False)
            con.execute("INSERT INTO processed (name) VALUES (?)", (name,))


if __name__ == "__main__":
    main()