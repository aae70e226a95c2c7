"""Jobs as people write them, each with one mistake that a second run, a kill or another layout brings to light."""

from __future__ import annotations

from pathlib import Path

import psycopg

from tests.prove.gallery.runner import Exhibit, Told

DAY, NEXT = "2026-04-25", "2026-04-26"
SCHEMA = "order_id BIGINT, customer STRING, amount DOUBLE, status STRING, updated_at TIMESTAMP, day DATE"
_HEADER = "order_id,customer,amount,status,updated_at,day\n"
PLAIN = (
    _HEADER
    + "1,ann,10.5,new,2026-04-25T08:00:00Z,2026-04-25\n2,bob,20.25,new,2026-04-25T09:00:00Z,2026-04-25\n--\n"
    + "3,ann,5.0,new,2026-04-25T10:00:00Z,2026-04-25\n4,eve,7.75,new,2026-04-25T11:00:00Z,2026-04-25\n"
)
LATER = _HEADER + "2,bob,20.25,paid,2026-04-26T09:00:00Z,2026-04-26\n5,joe,1.0,new,2026-04-26T10:00:00Z,2026-04-26\n"
TIED = (
    _HEADER
    + "1,ann,10.5,new,2026-04-25T08:00:00Z,2026-04-25\n2,bob,1.0,new,2026-04-25T08:00:00Z,2026-04-25\n--\n"
    + "1,ann,11.5,paid,2026-04-25T08:00:00Z,2026-04-25\n2,bob,2.0,paid,2026-04-25T08:00:00Z,2026-04-25\n--\n"
    + "1,ann,12.5,sent,2026-04-25T08:00:00Z,2026-04-25\n2,bob,3.0,sent,2026-04-25T08:00:00Z,2026-04-25\n"
)
UNEVEN = _HEADER + "".join(
    f"{n},ann,{amount!r},new,2026-04-25T08:00:00Z,2026-04-25\n{'--' + chr(10) if n % 10 == 9 else ''}"
    for n, amount in enumerate([0.1 * n + 1e9 / (n + 3) for n in range(40)])
).removesuffix("--\n")
KEYLESS = PLAIN + ",zoe,3.5,new,2026-04-25T12:00:00Z,2026-04-25\n"


def read(told: Told) -> None:
    """The date's files, as the view `source`."""
    rows = told.spark.read.option("header", "true").schema(SCHEMA).csv(told.input)
    rows.createOrReplaceTempView("source")


def exists(told: Told) -> bool:
    return (Path(told.target) / "_delta_log").is_dir()


def replace_day(told: Told, query: str = "SELECT * FROM source") -> None:
    """One commit that replaces the date's rows and nothing else."""
    writer = told.spark.sql(query).write.format("delta").mode("overwrite")
    writer.option("replaceWhere", f"day = DATE'{told.date}'").save(told.target)


def blind_append(told: Told) -> None:
    read(told)
    told.spark.table("source").write.format("delta").mode("append").save(told.target)
    told.step()


def delete_then_insert(told: Told) -> None:
    read(told)
    if exists(told):
        told.spark.sql(f"DELETE FROM delta.`{told.target}` WHERE day = DATE'{told.date}'")
        told.step()
    told.spark.table("source").write.format("delta").mode("append").save(told.target)
    told.step()


def watermark_first(told: Told) -> None:
    done = Path(told.words["state"])
    if done.exists() and done.read_text() >= told.date:
        return
    done.write_text(told.date)
    told.step()
    read(told)
    replace_day(told)
    told.step()


def tie_dependent_dedup(told: Told) -> None:
    read(told)
    replace_day(
        told,
        "SELECT * EXCEPT (n) FROM (SELECT *, row_number() OVER (PARTITION BY order_id ORDER BY updated_at DESC) AS n"
        " FROM source) WHERE n = 1",
    )
    told.step()


def now_in_a_column(told: Told) -> None:
    read(told)
    replace_day(told, "SELECT *, current_timestamp() AS loaded_at FROM source")
    told.step()


def uuid_key(told: Told) -> None:
    read(told)
    rows = told.spark.sql("SELECT uuid() AS id, * FROM source")
    if not exists(told):
        rows.write.format("delta").save(told.target)
    else:
        rows.createOrReplaceTempView("batch")
        told.spark.sql(
            f"MERGE INTO delta.`{told.target}` t USING batch s ON t.id = s.id"
            " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
    told.step()


def sum_of_doubles(told: Told) -> None:
    read(told)
    replace_day(told, "SELECT customer, day, sum(amount) AS total FROM source GROUP BY customer, day")
    told.step()


def dynamic_overwrite(told: Told) -> None:
    read(told)
    writer = told.spark.table("source").write.mode("overwrite").partitionBy("day")
    writer.option("partitionOverwriteMode", "dynamic").parquet(told.target)
    told.step()


def merge_without_dedup(told: Told) -> None:
    read(told)
    if not exists(told):
        told.spark.table("source").limit(0).write.format("delta").save(told.target)
    told.spark.sql(
        f"MERGE INTO delta.`{told.target}` t USING source s ON t.order_id = s.order_id"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    told.step()


def jdbc_append(told: Told) -> None:
    """As Spark's JDBC writer does it: each partition in a transaction of its own."""
    read(told)
    rows = [tuple(row) for row in told.spark.sql("SELECT order_id, amount, day FROM source ORDER BY 1").collect()]
    with psycopg.connect(told.words["url"], autocommit=True) as connection:
        for part in (rows[:2], rows[2:]):
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany("INSERT INTO orders VALUES (%s, %s, %s)", part)
            told.step()


def mail_for_each_run(told: Told) -> None:
    read(told)
    replace_day(told)
    with Path(told.words["log"]).open("a") as mails:
        mails.write(f"to: ops, day {told.date} is loaded\n")
    told.step()


def number_by_arrival(told: Told) -> None:
    read(told)
    replace_day(told, "SELECT row_number() OVER (ORDER BY day) AS line_no, * FROM source")
    told.step()


EXHIBITS = {
    "blind append": Exhibit(blind_append, {DAY: PLAIN}, ("twice", "killed"), key=("order_id",)),
    "delete and insert in two commits": Exhibit(delete_then_insert, {DAY: PLAIN}, ("killed",)),
    "watermark before the rows": Exhibit(watermark_first, {DAY: PLAIN}, ("killed",), state=True),
    "dedup with ties": Exhibit(tie_dependent_dedup, {DAY: TIED}, ("shuffled",), key=("order_id",)),
    "now in a column": Exhibit(now_in_a_column, {DAY: PLAIN}, ("twice",), key=("order_id",)),
    "uuid as key": Exhibit(uuid_key, {DAY: PLAIN}, ("twice",), key=("id",)),
    "sum of doubles": Exhibit(sum_of_doubles, {DAY: UNEVEN}, ("shuffled",)),
    "dynamic overwrite of an empty day": Exhibit(dynamic_overwrite, {DAY: PLAIN}, ("empty",), kind="parquet"),
    "merge without dedup": Exhibit(merge_without_dedup, {DAY: TIED}, ("twice",), key=("order_id",)),
    "merge of NULL keys": Exhibit(merge_without_dedup, {DAY: KEYLESS}, ("twice",), key=("order_id",)),
    "old batch over a newer one": Exhibit(
        merge_without_dedup, {DAY: PLAIN, NEXT: LATER}, ("order",), key=("order_id",)
    ),
    "jdbc append": Exhibit(
        jdbc_append,
        {DAY: PLAIN},
        ("twice", "killed"),
        kind="postgres",
        table="order_id bigint, amount double precision, day date",
    ),
    "a mail for each run": Exhibit(mail_for_each_run, {DAY: PLAIN}, ("twice",), log=True),
    "numbers by arrival": Exhibit(number_by_arrival, {DAY: PLAIN}, ("shuffled",), key=("order_id",)),
}
