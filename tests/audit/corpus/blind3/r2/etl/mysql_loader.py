import csv
import sys

import mysql.connector


def rows(path):
    with open(path, encoding="latin-1") as f:
        for r in csv.reader(f, delimiter=";"):
            yield r[0], r[1], r[2]


def chunks(it, n):
    buf = []
    for x in it:
        buf.append(x)
        if len(buf) == n:
            yield buf
            buf = []
    if buf:
        yield buf


def main(path):
    cnx = mysql.connector.connect(user="etl", database="dw")
    cur = cnx.cursor()
    sql = "INSERT INTO calls (caller, callee, seconds) VALUES (%s, %s, %s)"  # expect: SW103
    for part in chunks(rows(path), 1000):
        cur.executemany(sql, part)
        cnx.commit()
    cur.close()
    cnx.close()


def main_safe(path):
    cnx = mysql.connector.connect(user="etl", database="dw")
    cur = cnx.cursor()
    sql = ("INSERT INTO calls_keyed (call_id, caller, seconds) VALUES (%s, %s, %s) "
           "ON DUPLICATE KEY UPDATE caller = VALUES(caller), seconds = VALUES(seconds)")
    for part in chunks(rows(path), 1000):
        cur.executemany(sql, part)
        cnx.commit()


if __name__ == "__main__":
    main(sys.argv[1])