import psycopg


def work(conn: psycopg.Connection) -> None:
    with conn.transaction():
        job = conn.execute("SELECT id, payload FROM jobs WHERE done_at IS NULL ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1").fetchone()
        if job is None:
            return
        conn.execute("INSERT INTO results (job_id, value) VALUES (%s, %s)", (job[0], len(job[1])))
        conn.execute("UPDATE jobs SET done_at = now() WHERE id = %s", (job[0],))
