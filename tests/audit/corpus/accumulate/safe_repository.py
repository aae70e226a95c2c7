import psycopg2

class AccountRepository:
    def __init__(self, conn):
        self.conn = conn
    def withdraw(self, account, amount):
        cur = self.conn.cursor()
        cur.execute("UPDATE accounts SET balance = balance - %s WHERE id = %s", (amount, account))
        self.conn.commit()
