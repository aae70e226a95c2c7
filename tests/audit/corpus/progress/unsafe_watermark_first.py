import psycopg2


def sync(since, until):
    conn = psycopg2.connect("dbname=dw")
    cur = conn.cursor()
    cur.execute("UPDATE etl_watermarks SET value = %s WHERE name = 'orders'", (until,))  # expect: SW403
    conn.commit()
    cur.execute("INSERT INTO orders (id) SELECT id FROM src WHERE ts > %s AND ts <= %s ON CONFLICT (id) DO NOTHING", (since, until))
    conn.commit()
