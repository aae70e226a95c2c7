import sqlite3

import pandas as pd

connection = sqlite3.connect("shop.db")
with open("schema.sql") as file:
    connection.executescript(file.read())
pd.read_csv("visits.csv").to_sql("visits", connection, if_exists="append")  # expect: SW101 note
