from datetime import datetime, timedelta

import psycopg2


def main():
    day = (datetime.now() - timedelta(days=1)).strftime("%Y-%m-%d")
    with psycopg2.connect("dbname=shop") as connection, connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM visits WHERE day = '{day}'")
        # expect: SW401
        cursor.execute(f"INSERT INTO visits SELECT * FROM landing.visits WHERE day = '{day}'")


main()
