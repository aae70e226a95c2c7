import sqlparse
import logging

QUERIES = ["INSERT INTO a SELECT * FROM b", "DELETE FROM a; INSERT INTO a SELECT 1"]
log = logging.getLogger()


def pretty(q):
    return sqlparse.format(q, reindent=True)


def explain(cursor, q):
    cursor.execute("EXPLAIN " + q)
    return cursor.fetchall()


for q in QUERIES:
    log.info("would run %s", q)
    print(pretty(q))