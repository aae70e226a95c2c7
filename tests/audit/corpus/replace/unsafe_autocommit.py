import psycopg2


class Warehouse:
    def __init__(self, dsn):
        self.conn = psycopg2.connect(dsn)
        self.conn.autocommit = True
        self.cur = self.conn.cursor()

    def refresh(self, day):
        self._clear(day)
        self.cur.execute(f"INSERT INTO fct_sales SELECT * FROM stg_sales WHERE day = '{day}'")

    def _clear(self, day):
        self.cur.execute(f"DELETE FROM fct_sales WHERE day = '{day}'")  # expect: SW201
