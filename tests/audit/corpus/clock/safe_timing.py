from datetime import datetime

import psycopg2


def load(rows, day):
    started = datetime.now()
    conn = psycopg2.connect("dbname=dw")
    with conn, conn.cursor() as cur:
        cur.execute("DELETE FROM facts WHERE day = %s", (day,))
        cur.executemany("INSERT INTO facts (day, value) VALUES (%s, %s)", rows)
    print("took", datetime.now() - started)
