import tkinter as tk
import sqlite3

con = sqlite3.connect("g.db")
cur = con.cursor()


def submit():
    cur.executemany("INSERT INTO grades (name, grade) VALUES (?, ?)", [(e.get(), g.get()) for e, g in entries])
    con.commit()


entries = []
tk.Button(text="ok", command=submit).pack()
tk.mainloop()