"""Tiny migration runner."""
import pathlib
import psycopg2


def applied(cur):
    cur.execute("CREATE TABLE IF NOT EXISTS schema_migrations (name text primary key)")
    cur.execute("SELECT name FROM schema_migrations")
    return {r[0] for r in cur.fetchall()}


def main(folder):
    conn = psycopg2.connect("dbname=x")
    cur = conn.cursor()
    done = applied(cur)
    for p in sorted(pathlib.Path(folder).glob("*.sql")):
        if p.name in done:
            continue
        cur.execute(p.read_text())
        cur.execute("INSERT INTO schema_migrations (name) VALUES (%s)", (p.name,))
        conn.commit()