import os
import sys
from datetime import date, datetime, timedelta

import psycopg2

GIVEN = sys.argv[1] if len(sys.argv) > 1 else datetime.now().strftime("%Y-%m-%d")
SET = os.environ.get("RUN_DAY", date.today().isoformat())


def replace(cursor, table, day):
    cursor.execute(f"DELETE FROM {table} WHERE day = '{day}'")
    cursor.execute(f"INSERT INTO {table} SELECT * FROM landing.visits WHERE day = '{day}'")


def main(day=None):
    day = day or (datetime.now() - timedelta(days=1)).strftime("%Y-%m-%d")
    with psycopg2.connect("dbname=shop") as connection, connection.cursor() as cursor:
        replace(cursor, "visits", day)
        replace(cursor, "visits_given", GIVEN)
        replace(cursor, "visits_set", SET)


def later(day=None):
    if day is None:
        day = datetime.now().strftime("%Y-%m-%d")
    with psycopg2.connect("dbname=shop") as connection, connection.cursor() as cursor:
        replace(cursor, "visits_later", day)


main()
