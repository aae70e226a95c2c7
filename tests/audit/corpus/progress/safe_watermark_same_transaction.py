import psycopg2


def sync(since, until):
    conn = psycopg2.connect("dbname=dw")
    with conn, conn.cursor() as cur:
        cur.execute("UPDATE etl_watermarks SET value = %s WHERE name = 'orders'", (until,))
        cur.execute("INSERT INTO orders (id) SELECT id FROM src WHERE ts > %s ON CONFLICT (id) DO NOTHING", (since,))
