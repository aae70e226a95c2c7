import psycopg2
from psycopg2 import errors


def save(conn, rows):
    cur = conn.cursor()
    for row in rows:
        try:
            cur.execute("INSERT INTO payments (payment_id, amount) VALUES (%s, %s)", row)
            conn.commit()
        except errors.UniqueViolation:
            conn.rollback()
