import psycopg2


def replace(rows, day):
    conn = psycopg2.connect("")
    cur = conn.cursor()
    cur.execute("DELETE FROM f WHERE day = %s", (day,))  # expect: SW201
    conn.commit()
    for r in rows:
        cur.execute("INSERT INTO f (day, v) VALUES (%s, %s)", (day, r))
        conn.commit()
