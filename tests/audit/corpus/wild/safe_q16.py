import snowflake.connector
def load():
    con = snowflake.connector.connect(user="x")
    cur = con.cursor()
    try:
        cur.execute("BEGIN")
        cur.execute("DELETE FROM t WHERE d = CURRENT_DATE")
        cur.execute("INSERT INTO t SELECT * FROM s WHERE d = %s", (1,))
        cur.execute("COMMIT")
    except Exception:
        cur.execute("ROLLBACK")
        raise
