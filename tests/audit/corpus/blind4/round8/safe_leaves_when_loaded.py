import sys

import pymysql
from ledger import already_loaded, note_down


def run(name, table):
    connection = pymysql.connect(host="dw", autocommit=True)
    cursor = connection.cursor()
    if already_loaded(cursor, name):
        sys.exit()
    cursor.execute("TRUNCATE TABLE staging." + table)
    cursor.execute("INSERT INTO mart.visits SELECT * FROM staging." + table)  # expect: SW102 note
    note_down(cursor, name)
