import psycopg


def refresh(dsn, rows):
    with psycopg.connect(dsn, autocommit=True) as conn:
        with conn.transaction():
            conn.execute("TRUNCATE mart.kpis")
            with conn.cursor() as cur:
                cur.executemany("INSERT INTO mart.kpis (name, value) VALUES (%s, %s)", rows)
