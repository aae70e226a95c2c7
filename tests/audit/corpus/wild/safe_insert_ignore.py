import pymysql
def load(rows):
    conn = pymysql.connect(host="x")
    with conn.cursor() as c:
        c.executemany("INSERT IGNORE INTO t (a, b) VALUES (%s, %s)", rows)
    conn.commit()
