import io
import psycopg2


def copy_upsert(dsn, table, cols, key, buf: io.StringIO):
    with psycopg2.connect(dsn) as conn, conn.cursor() as cur:
        cur.execute(f"CREATE TEMP TABLE tmp_load (LIKE {table}) ON COMMIT DROP")
        cur.copy_expert(f"COPY tmp_load ({', '.join(cols)}) FROM STDIN WITH CSV", buf)
        cur.execute(f"DELETE FROM {table} t USING tmp_load l WHERE t.{key} = l.{key}")
        cur.execute(f"INSERT INTO {table} SELECT * FROM tmp_load")