import psycopg2


def already_loaded(cur, name):
    cur.execute("SELECT 1 FROM loaded_files WHERE name = %s", (name,))
    return cur.fetchone() is not None


def load(path, conn):
    cur = conn.cursor()
    if already_loaded(cur, path):
        return
    for row in open(path):
        cur.execute("INSERT INTO readings (sensor, value) VALUES (%s, %s)", row.split(","))
    cur.execute("INSERT INTO loaded_files (name) VALUES (%s)", (path,))
    conn.commit()
