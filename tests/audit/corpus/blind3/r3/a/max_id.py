import psycopg2
from psycopg2.extras import execute_values

src = psycopg2.connect("dbname=a")
dst = psycopg2.connect("dbname=b")
with dst.cursor() as d, src.cursor() as s:
    d.execute("SELECT coalesce(max(id), 0) FROM copy_of_users")
    last = d.fetchone()[0]
    s.execute("SELECT id, name FROM users WHERE id > %s ORDER BY id", (last,))
    execute_values(d, "INSERT INTO copy_of_users (id, name) VALUES %s", s.fetchall())
dst.commit()