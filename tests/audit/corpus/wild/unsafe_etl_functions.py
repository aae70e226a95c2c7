import psycopg2
from config import DB


def get_conn():
    return psycopg2.connect(**DB)


def execute(sql, params=None):
    conn = get_conn()
    cur = conn.cursor()
    cur.execute(sql, params)
    conn.commit()
    conn.close()


def refresh():
    execute("DELETE FROM report")  # expect: SW201
    execute("INSERT INTO report SELECT a, SUM(b) FROM facts GROUP BY a")
