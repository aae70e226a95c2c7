import psycopg2


def sync(since):
    conn = psycopg2.connect("dbname=dw")
    with conn, conn.cursor() as cur:
        cur.execute("INSERT INTO orders (id, total) SELECT id, total FROM src WHERE ts > %s ON CONFLICT (id) DO NOTHING", (since,))
        cur.execute("UPDATE etl_watermarks SET value = now() WHERE name = 'orders'")
