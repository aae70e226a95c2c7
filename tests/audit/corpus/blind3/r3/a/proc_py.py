import oracledb


def run(day):
    with oracledb.connect(user="u", password="p", dsn="d") as c:
        cur = c.cursor()
        cur.callproc("pkg_gl.post_day", [day])
        cur.execute("begin dbms_stats.gather_table_stats('X', 'Y'); end;")
        c.commit()


def two(day, rows):
    c = oracledb.connect(user="u", password="p", dsn="d")
    cur = c.cursor()
    cur.execute("TRUNCATE TABLE px_day")  # expect: SW201
    cur.executemany("INSERT INTO px_day (sym, px) VALUES (:1, :2)", rows)
    c.commit()
