import psycopg2


def load(rows):
    conn = psycopg2.connect("dbname=dw")
    cur = conn.cursor()
    cur.execute("TRUNCATE TABLE rates")  # expect: SW201
    conn.commit()
    for row in rows:
        cur.execute("INSERT INTO rates (day, rate) VALUES (%s, %s)", row)
    conn.commit()
