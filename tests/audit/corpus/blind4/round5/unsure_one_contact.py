import sqlite3


class Contact:
    def insert(self, name):
        connection = sqlite3.connect("contacts.db")
        connection.executemany("INSERT INTO contacts VALUES (?)", [(name,)])  # expect: SW103 note
        connection.commit()
