import psycopg2
def swap(cur, conn):
    cur.execute("CREATE TABLE t_new AS SELECT * FROM src")
    cur.execute("DROP TABLE IF EXISTS t")
    cur.execute("ALTER TABLE t_new RENAME TO t")
    conn.commit()
