import sqlite3


def escape(name):
    return '"' + name.replace('"', '""') + '"'


class Table:
    def __init__(self, name, columns):
        self.name = name
        self.columns = columns

    def insert_statement(self):
        # expect: SW103 note
        return f"INSERT INTO {escape(self.name)} ({', '.join(self.columns)}) VALUES (?)"

    def load_rows(self, conn: sqlite3.Connection, rows):
        conn.executemany(self.insert_statement(), rows)
