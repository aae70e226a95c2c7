from __future__ import annotations

import argparse
import datetime as dt
import logging
from contextlib import contextmanager

import psycopg2
from psycopg2.extras import execute_batch, execute_values

LOG = logging.getLogger("fees")

SELECT = """
    SELECT account_id, fee_type, sum(amount) FROM charges
    WHERE charged_at >= %(start)s AND charged_at < %(end)s GROUP BY 1, 2
"""
DELETE = "DELETE FROM fees_daily WHERE day = %s"
INSERT = "INSERT INTO fees_daily (day, account_id, fee_type, amount) VALUES %s"


@contextmanager
def connection(dsn):
    conn = psycopg2.connect(dsn)
    try:
        yield conn
        conn.commit()
    except Exception:
        conn.rollback()
        raise
    finally:
        conn.close()


class FeeJob:
    def __init__(self, src, dst):
        self.src = src
        self.dst = dst

    def read(self, day):
        with connection(self.src) as conn, conn.cursor() as cur:
            cur.execute(SELECT, {"start": day, "end": day + dt.timedelta(days=1)})
            return cur.fetchall()

    def write(self, day, rows):
        with connection(self.dst) as conn, conn.cursor() as cur:
            cur.execute(DELETE, (day,))
            execute_values(cur, INSERT, [(day, *r) for r in rows], page_size=1000)

    def run(self, day):
        rows = self.read(day)
        LOG.info("%s rows for %s", len(rows), day)
        self.write(day, rows)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--day", type=dt.date.fromisoformat, required=True)
    p.add_argument("--src")
    p.add_argument("--dst")
    a = p.parse_args()
    FeeJob(a.src, a.dst).run(a.day)


if __name__ == "__main__":
    main()