import csv

import psycopg2

INSERT = "INSERT INTO sensor_readings (sensor_id, read_at, value) VALUES (%s, %s, %s)"  # expect: SW103


def load(path):
    conn = psycopg2.connect("dbname=iot")
    cur = conn.cursor()
    with open(path) as f:
        rows = [tuple(r) for r in csv.reader(f)]
    cur.executemany(INSERT, rows)
    conn.commit()
    conn.close()
