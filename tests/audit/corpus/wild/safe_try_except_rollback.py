import psycopg2


class Loader:
    def __init__(self, conn):
        self.conn = conn

    def __enter__(self):
        self.cur = self.conn.cursor()
        return self

    def __exit__(self, *a):
        self.cur.close()

    def replace_day(self, day, rows):
        try:
            self.cur.execute("DELETE FROM f WHERE day = %s", (day,))
            for r in rows:
                self.cur.execute("INSERT INTO f (day, v) VALUES (%s, %s)", (day, r))
        except Exception:
            self.conn.rollback()
            raise
        else:
            self.conn.commit()
