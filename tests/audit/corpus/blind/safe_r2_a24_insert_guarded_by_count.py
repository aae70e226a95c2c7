import psycopg2


def load_once(day):
    conn = psycopg2.connect("dbname=dwh")
    with conn, conn.cursor() as cur:
        cur.execute("SELECT count(*) FROM mart.daily WHERE day = %s", (day,))
        if cur.fetchone()[0] > 0:
            print("already there")
            return
        cur.execute("INSERT INTO mart.daily SELECT day, sum(x) FROM raw.x WHERE day = %s GROUP BY day", (day,))
