import csv
import psycopg

UPSERT = """
INSERT INTO product (sku, name, price)
VALUES (%(sku)s, %(name)s, %(price)s)
ON CONFLICT (sku) DO UPDATE SET name = EXCLUDED.name, price = EXCLUDED.price
"""


def main(path: str) -> None:
    with psycopg.connect("dbname=shop") as conn, conn.cursor() as cur, open(path) as handle:
        cur.executemany(UPSERT, list(csv.DictReader(handle)))


if __name__ == "__main__":
    import sys

    main(sys.argv[1])
