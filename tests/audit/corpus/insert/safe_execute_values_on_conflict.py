import psycopg2
from psycopg2.extras import execute_values


def load(rows, dsn):
    sql = """
        INSERT INTO trades (trade_id, symbol, price)
        VALUES %s
        ON CONFLICT (trade_id) DO NOTHING
    """
    with psycopg2.connect(dsn) as conn:
        with conn.cursor() as cur:
            execute_values(cur, sql, rows)
