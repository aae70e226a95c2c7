from psycopg2.extras import execute_values


def write(conn, rows):
    with conn.cursor() as cur:
        execute_values(cur, "INSERT INTO ticks (symbol, ts, price) VALUES %s", rows)  # expect: SW103
    conn.commit()
