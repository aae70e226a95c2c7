import psycopg2


def refresh(dsn, day, rows):
    conn = psycopg2.connect(dsn)
    try:
        cur = conn.cursor()
        cur.execute("DELETE FROM stats WHERE day = %s", (day,))
        cur.executemany("INSERT INTO stats (day, value) VALUES (%s, %s)", rows)
        conn.commit()
    except Exception:
        conn.rollback()
        raise
    finally:
        conn.close()
