import logging
from psycopg2.extras import execute_batch
SQL = """
INSERT INTO metrics (name, ts, value) VALUES (%(name)s, %(ts)s, %(value)s)
ON CONFLICT ON CONSTRAINT metrics_pk DO UPDATE SET value = EXCLUDED.value
"""
def flush(conn, rows):
    with conn, conn.cursor() as cur:
        execute_batch(cur, SQL, rows, page_size=500)
    logging.info("flushed %d", len(rows))
