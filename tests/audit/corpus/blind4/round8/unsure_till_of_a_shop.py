import sqlite3

import pandas as pd


class Till:
    def sell(self, item, quantity):
        connection = sqlite3.connect("shop.db")
        connection.execute("INSERT INTO sales (item, quantity) VALUES (?, ?)", (item, quantity))  # expect: SW103 note
        connection.execute("UPDATE items SET quantity = quantity - ? WHERE id = ?", (quantity, item))
        connection.commit()

    def sell_all(self, cart):
        connection = sqlite3.connect("shop.db")
        for one in cart:
            connection.execute("UPDATE items SET quantity = quantity - ? WHERE id = ?", (one.quantity, one.item))
        connection.commit()

    def report(self):
        return pd.read_sql("SELECT * FROM sales", sqlite3.connect("shop.db"))
