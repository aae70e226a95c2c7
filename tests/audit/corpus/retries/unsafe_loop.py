import time

import psycopg2


def load(rows):
    for attempt in range(3):  # expect: SW501
        try:
            conn = psycopg2.connect("dbname=dw")
            cur = conn.cursor()
            cur.executemany("INSERT INTO facts (a, b) VALUES (%s, %s)", rows)  # expect: SW103
            conn.commit()
            break
        except psycopg2.OperationalError:
            time.sleep(2**attempt)
