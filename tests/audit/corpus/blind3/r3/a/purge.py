import psycopg2
from datetime import datetime, timedelta


def purge(dsn, days=30):
    cutoff = datetime.utcnow() - timedelta(days=days)
    with psycopg2.connect(dsn) as c, c.cursor() as cur:
        cur.execute("INSERT INTO events_archive SELECT * FROM events WHERE created_at < %s ON CONFLICT (id) DO NOTHING", (cutoff,))
        cur.execute("DELETE FROM events WHERE created_at < %s", (cutoff,))