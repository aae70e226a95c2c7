"""The same jobs, written so that they can be repeated: prove must let them through."""

from __future__ import annotations

from pathlib import Path

import psycopg

from tests.prove.gallery.broken import DAY, LATER, NEXT, PLAIN, TIED, UNEVEN, exists, read, replace_day
from tests.prove.gallery.runner import Exhibit, Told


def replaced_day(told: Told) -> None:
    read(told)
    replace_day(told)
    told.step()


def merge_of_versions(told: Told) -> None:
    read(told)
    told.spark.sql(
        "SELECT * EXCEPT (n) FROM (SELECT *, row_number() OVER (PARTITION BY order_id ORDER BY updated_at DESC,"
        " status, xxhash64(*)) AS n FROM source) WHERE n = 1"
    ).createOrReplaceTempView("batch")
    if not exists(told):
        told.spark.table("batch").limit(0).write.format("delta").save(told.target)
        told.step()
    told.spark.sql(
        f"MERGE INTO delta.`{told.target}` t USING batch s ON t.order_id = s.order_id"
        " WHEN MATCHED AND s.updated_at > t.updated_at THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    told.step()


def sum_of_decimals(told: Told) -> None:
    read(told)
    exact = "CAST(sum(CAST(amount AS DECIMAL(30,6))) AS DOUBLE)"
    replace_day(told, f"SELECT customer, day, {exact} AS total FROM source GROUP BY customer, day")
    told.step()


def one_transaction(told: Told) -> None:
    read(told)
    rows = [tuple(row) for row in told.spark.sql("SELECT order_id, amount, day FROM source").collect()]
    with psycopg.connect(told.words["url"]) as connection, connection.cursor() as cursor:
        # Two at once: the second waits for the first, then replaces its rows.
        cursor.execute("LOCK TABLE orders IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute("DELETE FROM orders WHERE day = %s", (told.date,))
        told.step()
        cursor.executemany("INSERT INTO orders VALUES (%s, %s, %s)", rows)
        told.step()
    told.step()


def watermark_last(told: Told) -> None:
    done = Path(told.words["state"])
    if done.exists() and done.read_text() >= told.date:
        return
    read(told)
    replace_day(told)
    told.step()
    done.write_text(told.date)
    told.step()


def one_mail_for_each_day(told: Told) -> None:
    read(told)
    replace_day(told)
    told.step()
    log = Path(told.words["log"])
    mail = f"to: ops, day {told.date} is loaded\n"
    if not log.exists() or mail not in log.read_text():
        with log.open("a") as mails:
            mails.write(mail)
    told.step()


_ALL = ("twice", "killed", "shuffled", "order", "empty", "concurrent")
EXHIBITS = {
    "replaced by predicate": Exhibit(replaced_day, {DAY: PLAIN, NEXT: LATER}, _ALL, key=("order_id", "day")),
    "merge of versions": Exhibit(
        merge_of_versions, {DAY: TIED, NEXT: LATER}, ("killed", "shuffled", "order"), key=("order_id",)
    ),
    "sum of decimals": Exhibit(sum_of_decimals, {DAY: UNEVEN}, ("twice", "shuffled", "empty")),
    "delete and insert in one transaction": Exhibit(
        one_transaction,
        {DAY: PLAIN},
        ("twice", "killed", "empty", "concurrent"),
        kind="postgres",
        table="order_id bigint, amount double precision, day date",
    ),
    "watermark after the rows": Exhibit(watermark_last, {DAY: PLAIN}, ("twice", "killed"), state=True),
    "one mail for each day": Exhibit(one_mail_for_each_day, {DAY: PLAIN}, ("twice", "killed"), log=True),
}
