import psycopg


def load(path: str) -> None:
    with psycopg.connect("service=dwh") as conn:
        with conn.cursor() as cur:
            cur.execute("CREATE TEMP TABLE stage (LIKE crm.contact INCLUDING DEFAULTS) ON COMMIT DROP")
            with cur.copy("COPY stage FROM STDIN (FORMAT csv, HEADER)") as copy, open(path, "rb") as handle:
                while data := handle.read(65536):
                    copy.write(data)
            cur.execute(
                """
                INSERT INTO crm.contact
                SELECT DISTINCT ON (email) * FROM stage ORDER BY email, updated_at DESC, id
                ON CONFLICT (email) DO UPDATE SET name = EXCLUDED.name, updated_at = EXCLUDED.updated_at
                """
            )
