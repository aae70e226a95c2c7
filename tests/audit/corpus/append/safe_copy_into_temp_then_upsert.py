import psycopg2


def load(path, dsn):
    with psycopg2.connect(dsn) as conn, conn.cursor() as cur, open(path) as f:
        cur.execute("CREATE TEMP TABLE incoming (LIKE products INCLUDING DEFAULTS) ON COMMIT DROP")
        cur.copy_expert("COPY incoming FROM STDIN WITH CSV HEADER", f)
        cur.execute(
            """
            INSERT INTO products SELECT * FROM incoming
            ON CONFLICT (sku) DO UPDATE SET price = EXCLUDED.price
            """
        )
