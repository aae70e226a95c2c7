import csv
from pathlib import Path
import psycopg2


def main():
    conn = psycopg2.connect("dbname=dwh")
    for path in sorted(Path("/data/in").glob("*.csv")):
        with conn, conn.cursor() as cur:
            cur.execute("SELECT 1 FROM etl.loaded_files WHERE name = %s", (path.name,))
            if cur.fetchone():
                continue
            with path.open() as handle:
                cur.copy_expert("COPY raw.sales FROM STDIN CSV HEADER", handle)
            cur.execute("INSERT INTO etl.loaded_files (name) VALUES (%s)", (path.name,))


main()
