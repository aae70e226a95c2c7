import psycopg2


def sync(source, dsn):
    conn = psycopg2.connect(dsn)
    cur = conn.cursor()
    cur.execute("SELECT value FROM etl_watermark WHERE job = 'orders'")
    since = cur.fetchone()[0]
    rows = source.fetch(since)
    newest = max(r["updated_at"] for r in rows)
    # expect: SW403
    cur.execute("UPDATE etl_watermark SET value = %s WHERE job = 'orders'", (newest,))
    conn.commit()
    cur.executemany(
        "INSERT INTO orders (id, amount) VALUES (%(id)s, %(amount)s) ON CONFLICT (id) DO UPDATE SET amount = EXCLUDED.amount",
        rows,
    )
    conn.commit()
