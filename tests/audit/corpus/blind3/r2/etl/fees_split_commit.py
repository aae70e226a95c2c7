import psycopg2
from psycopg2.extras import execute_values


class Db:
    def __init__(self, dsn):
        self.conn = psycopg2.connect(dsn)

    def run(self, sql, args=None):
        with self.conn.cursor() as cur:
            cur.execute(sql, args)
        self.conn.commit()

    def bulk(self, sql, rows):
        with self.conn.cursor() as cur:
            execute_values(cur, sql, rows)
        self.conn.commit()


def reload(dsn, day, rows):
    db = Db(dsn)
    db.run("DELETE FROM fees_daily WHERE day = %s", (day,))  # expect: SW201
    db.bulk("INSERT INTO fees_daily (day, account_id, amount) VALUES %s", rows)


def append(dsn, rows):
    db = Db(dsn)
    db.bulk("INSERT INTO fee_events (account_id, amount, at) VALUES %s", rows)  # expect: SW103