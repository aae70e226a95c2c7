import psycopg2
from psycopg2.extras import execute_batch
SQL = """
INSERT INTO metrics (name, ts, value) VALUES (%(name)s, %(ts)s, %(value)s)  # expect: SW103
"""
def flush(rows):
    conn = psycopg2.connect("")
    with conn, conn.cursor() as cur:
        execute_batch(cur, SQL, rows, page_size=500)
