from contextlib import contextmanager
import psycopg2


@contextmanager
def transaction(dsn):
    conn = psycopg2.connect(dsn)
    try:
        with conn.cursor() as cur:
            yield cur
        conn.commit()
    except Exception:
        conn.rollback()
        raise
    finally:
        conn.close()


def rebuild(day):
    with transaction("dbname=dwh") as cur:
        cur.execute("DELETE FROM agg.daily WHERE day = %s", (day,))
        cur.execute("INSERT INTO agg.daily SELECT day, count(*) FROM raw.hits WHERE day = %s GROUP BY day", (day,))
