import functools
import pymysql


def transactional(fn):
    @functools.wraps(fn)
    def inner(*a, **k):
        conn = pymysql.connect(host="h", db="d")
        try:
            with conn.cursor() as cur:
                out = fn(cur, *a, **k)
            conn.commit()
            return out
        except Exception:
            conn.rollback()
            raise
    return inner


@transactional
def reload_prices(cur, rows):
    cur.execute("DELETE FROM prices")
    cur.executemany("INSERT INTO prices (sku, price) VALUES (%s, %s)", rows)