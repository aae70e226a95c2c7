import psycopg2


def clear(cur, day):
    cur.execute("DELETE FROM fct_trips WHERE trip_date = %s", (day,))


def fill(cur, day):
    cur.execute("INSERT INTO fct_trips SELECT * FROM stg_trips WHERE trip_date = %s", (day,))


def main(day):
    conn = psycopg2.connect("dbname=dw")
    with conn:
        with conn.cursor() as cur:
            clear(cur, day)
            fill(cur, day)
    conn.close()
