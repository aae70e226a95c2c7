import psycopg2
from tenacity import retry, stop_after_attempt


@retry(stop=stop_after_attempt(5))
def write(rows):
    conn = psycopg2.connect("dbname=dw")
    cur = conn.cursor()
    cur.executemany("INSERT INTO readings (sensor, at, value) VALUES (%s, %s, %s) ON CONFLICT (sensor, at) DO NOTHING", rows)
    conn.commit()
