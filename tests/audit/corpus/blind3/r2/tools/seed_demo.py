"""Fills an empty demo database."""
import random
import sqlite3
from faker import Faker

fake = Faker()
con = sqlite3.connect("demo.db")
con.execute("DROP TABLE IF EXISTS people")
con.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INT)")
con.executemany("INSERT INTO people (name, age) VALUES (?, ?)", [(fake.name(), random.randint(18, 90)) for _ in range(1000)])
con.commit()