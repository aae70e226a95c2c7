import logging
import psycopg2

TABLES = {"orders": "orders.csv", "customers": "customers.csv"}


def main():
    with psycopg2.connect(host="localhost", dbname="north") as conn:
        with conn.cursor() as cur:
            sql = "COPY %s FROM STDIN WITH CSV HEADER DELIMITER AS ','"
            for table, file in TABLES.items():
                with open(file) as f:
                    cur.execute("truncate " + table + ";")
                    cur.copy_expert(sql=sql % table, file=f)
        conn.commit()


main()
