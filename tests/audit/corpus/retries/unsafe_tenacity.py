import psycopg2
from tenacity import retry, stop_after_attempt


@retry(stop=stop_after_attempt(5))  # expect: SW501
def write(rows):
    conn = psycopg2.connect("dbname=dw")
    cur = conn.cursor()
    cur.executemany("INSERT INTO readings (sensor, value) VALUES (%s, %s)", rows)  # expect: SW103
    conn.commit()
