import psycopg2
from contextlib import contextmanager


@contextmanager
def transaction():
    conn = psycopg2.connect("")
    try:
        yield conn.cursor()
        conn.commit()
    except Exception:
        conn.rollback()
        raise


def refresh():
    with transaction() as cur:
        cur.execute("DELETE FROM report")
        cur.execute("INSERT INTO report SELECT a, SUM(b) FROM facts GROUP BY a")
