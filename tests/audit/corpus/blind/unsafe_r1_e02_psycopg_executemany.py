import json
import psycopg2
from psycopg2.extras import execute_values


def load(path, dsn):
    with open(path) as handle:
        rows = [(r["ts"], r["sensor"], r["value"]) for r in json.load(handle)]
    conn = psycopg2.connect(dsn)
    cur = conn.cursor()
    # expect: SW103
    execute_values(cur, "INSERT INTO readings (ts, sensor, value) VALUES %s", rows)
    conn.commit()
    conn.close()


if __name__ == "__main__":
    load("readings.json", "dbname=iot")
