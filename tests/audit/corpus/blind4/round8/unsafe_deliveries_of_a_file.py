import sqlite3

import pandas as pd

connection = sqlite3.connect("shop.db")
for row in pd.read_csv("deliveries.csv").itertuples():
    # expect: SW105
    connection.execute("UPDATE items SET quantity = quantity + ? WHERE id = ?", (row.quantity, row.item))
connection.commit()
