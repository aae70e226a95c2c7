from myapp.db import transaction, get_conn


def rebuild(day):
    with transaction() as tx:
        tx.execute("DELETE FROM report WHERE day = %s", (day,))
        tx.execute("INSERT INTO report SELECT day, count(*) FROM ev WHERE day = %s GROUP BY day", (day,))