"""What every target must do, over every target there is."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable

import samewise.targets
from samewise.core.connections import PostgresConnection
from samewise.core.errors import Conflict, ForeignTarget, Refused, SamewiseError
from samewise.core.measures import Measures, measure_expressions, read_measures
from samewise.core.ports import Target, Write
from samewise.core.records import Answer, Owner, RunRecord, Stamp
from samewise.core.schema import Schema
from samewise.core.sql import Span, quote
from samewise.core.windows import FULL, Window
from samewise.storage.frames import schema_of
from samewise.storage.postgres import text
from samewise.targets.delta import DeltaTarget
from samewise.targets.postgres import PostgresTarget
from tests.support.postgres import PostgresServer
from tests.support.spark import ReadySpark
from tests.support.state import a_run

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

DAY = Window(datetime(2026, 4, 25, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC))
NEXT_DAY = Window(datetime(2026, 4, 26, tzinfo=UTC), datetime(2026, 4, 27, tzinfo=UTC))
SCHEMA = Schema.of([("order_id", "bigint"), ("amount", "decimal(12,2)"), ("order_date", "date")])
OWNER = Owner("store-1", "orders_daily", "load", "here")
_numbers = count(1)
NO_OWNER = "UNSET TBLPROPERTIES ('samewise.store', 'samewise.owner', 'samewise.place')"
BAD_NAME = 'orders"; drop table x; --'


def span(window: Window) -> Span:
    return Span("order_date", window.start.date(), window.end.date())


@dataclass
class Rig:
    """A target of one kind, and a look behind it."""

    make: Callable[[], Target]
    """The same table, as another process would open it."""
    forget_log: Callable[[], None]
    """Takes the older part of the table's log away, as its retention does."""
    spark: SparkSession
    read: Callable[[], DataFrame]
    sql: Callable[[str], object]
    """What a person does to the table by hand; `{}` is its name."""
    disown: Callable[[], object]
    """Takes the owner away, as if nobody had ever claimed the table."""
    keeps_versions: bool = True
    """Whether rows can be seen as they were before."""
    conflicts: bool = True
    """Whether one of two commits at once must be made again. Otherwise one waits for the other, or comes after it."""
    folder: Path | None = None
    """Where the table lies, if a copy of that is the same table in another place."""

    def __post_init__(self) -> None:
        self.target = self.make()

    @property
    def ids(self) -> list[int]:
        return sorted(row[0] for row in self.read().select("order_id").collect())

    @property
    def version(self) -> int:
        head = self.make().head()
        assert head is not None
        return head.version

    def frame(self, ids: Sequence[int], window: Window = DAY) -> DataFrame:
        rows = [(number, window.start.date()) for number in ids]
        plain = self.spark.createDataFrame(rows, "order_id BIGINT, order_date DATE")
        return plain.selectExpr("order_id", "CAST(order_id AS DECIMAL(12,2)) AS amount", "order_date")

    def publish(self, run: RunRecord, ids: Sequence[int], rows: DataFrame | None = None) -> None:
        """What a run does to land these rows, in a process of its own."""
        target = self.make()
        rows = self.frame(ids, run.window) if rows is None else rows
        target.prepare(schema_of(rows), OWNER, ())
        target.publish(rows, Write(span(run.window), ()), stamp_of(run))


def stamp_of(run: RunRecord, *, kind: str = "data") -> Stamp:
    return Stamp(
        store_id=OWNER.store_id,
        run_id=run.run_id,
        attempt_id="attempt-1",
        pipeline=run.pipeline,
        task=run.task,
        window=run.window,
        generation=run.generation,
        definition=run.definition,
        fingerprint=run.fingerprint,
        contract=None,
        run_ts=run.run_ts,
        kind=kind,
    )


def measured(rows: DataFrame) -> Measures:
    expressions = measure_expressions(schema_of(rows))
    found = rows.selectExpr(*[f"{sql} AS {quote(name)}" for name, sql in expressions.items()]).first()
    assert found is not None
    measures = read_measures(found.asDict())
    assert measures is not None
    return measures


def forget_delta_log(folder: Path) -> None:
    DeltaTable(folder).create_checkpoint()
    *older, _ = sorted((folder / "_delta_log").glob("*.json"))
    for file in older:
        file.unlink()
        # A checksum that outlives its commit would let a reader guess at it.
        file.with_suffix(".crc").unlink(missing_ok=True)
        file.with_name(f".{file.stem}.crc.crc").unlink(missing_ok=True)
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def delta_by_path(spark: SparkSession, folder: Path) -> Rig:
    place = folder / "a table"
    return Rig(
        make=lambda: DeltaTarget(str(place), None, ReadySpark(spark)),
        forget_log=lambda: forget_delta_log(place),
        spark=spark,
        read=lambda: spark.read.format("delta").load(str(place)),
        sql=lambda text: spark.sql(text.format(f"delta.`{place}`")),
        disown=lambda: spark.sql(f"ALTER TABLE delta.`{place}` {NO_OWNER}"),
        conflicts=False,
        folder=place,
    )


def delta_by_name(spark: SparkSession, folder: Path) -> Rig:
    name = f"target_{next(_numbers)}"

    def place() -> Path:
        detail = spark.sql(f"DESCRIBE DETAIL {name}").first()
        assert detail is not None
        return Path(str(detail["location"]).removeprefix("file:"))

    return Rig(
        make=lambda: DeltaTarget(None, ["default", name], ReadySpark(spark)),
        forget_log=lambda: forget_delta_log(place()),
        spark=spark,
        read=lambda: spark.table(name),
        sql=lambda text: spark.sql(text.format(name)),
        disown=lambda: spark.sql(f"ALTER TABLE {name} {NO_OWNER}"),
    )


def postgres(spark: SparkSession, server: PostgresServer) -> Rig:
    # Whatever the suite does, it does to a table of this name.
    table = BAD_NAME
    schema = server.new_schema()
    connection = PostgresConnection("test", server.plain_url("postgres"), schema=schema, bookkeeping=schema)

    def do(statement: str) -> None:
        with server.connect() as session:
            session.execute(text(statement))

    def read() -> DataFrame:
        rows = make().rows(None)
        assert rows is not None
        return rows

    def make() -> PostgresTarget:
        return PostgresTarget(connection, schema, table, ReadySpark(spark))

    quoted = table.replace('"', '""')
    return Rig(
        make=make,
        forget_log=lambda: do(
            f"WITH c AS (SELECT max(version) AS last FROM {schema}.samewise_commits)"
            f" DELETE FROM {schema}.samewise_commits USING c WHERE version < c.last"
        ),
        spark=spark,
        read=read,
        sql=lambda statement: do(statement.format(f'{schema}."{quoted}"')),
        disown=lambda: do(f"UPDATE {schema}.samewise_targets SET store_id = NULL"),
        keeps_versions=False,
        conflicts=False,
    )


RIGS: dict[str, tuple[type, Callable[[SparkSession, Path, PostgresServer], Rig]]] = {
    "delta by path": (DeltaTarget, lambda spark, folder, server: delta_by_path(spark, folder)),
    "delta by name": (DeltaTarget, lambda spark, folder, server: delta_by_name(spark, folder)),
    "postgres": (PostgresTarget, lambda spark, folder, server: postgres(spark, server)),
}


@pytest.fixture(params=list(RIGS))
def rig(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path, postgres_server: PostgresServer) -> Rig:
    """A target of each kind that does not exist yet."""
    return RIGS[request.param][1](spark, tmp_path, postgres_server)


@pytest.fixture(scope="module")
def run() -> RunRecord:
    return a_run(DAY)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a loaded table is kept for the next test."""
    return tmp_path_factory.mktemp("loaded") / "table"


@pytest.fixture
def loaded(rig: Rig, run: RunRecord, copy: Path) -> Rig:
    """A target that holds two rows of one day."""
    if rig.folder is not None and copy.exists():
        shutil.copytree(copy, rig.folder)
        return rig
    rig.publish(run, [1, 2])
    if rig.folder is not None:
        shutil.copytree(rig.folder, copy)
    return rig


def test_every_target_has_a_rig_here() -> None:
    targets = {
        kind
        for module in pkgutil.iter_modules(samewise.targets.__path__)
        for name, kind in inspect.getmembers(importlib.import_module(f"samewise.targets.{module.name}"))
        if inspect.isclass(kind) and name.endswith("Target") and kind.__module__.startswith("samewise.targets")
    }
    assert targets == {kind for kind, _ in RIGS.values()}


# Before there is anything


def test_a_target_that_does_not_exist_says_so_and_is_not_made_by_asking(rig: Rig, run: RunRecord) -> None:
    target = rig.target
    assert target.head() is None
    assert target.generation(run.app_id) == 0
    assert target.commits(-1) is None
    assert list(target.known_commits()) == []
    assert target.landed(run).answer is Answer.ABSENT
    target.burn(stamp_of(run, kind="burn"))
    target.adopt(OWNER)
    assert rig.make().head() is None


def test_one_table_has_one_key(rig: Rig) -> None:
    assert rig.make().key == rig.make().key


# Publishing


def test_what_was_published_is_there_and_says_who_wrote_it(loaded: Rig, run: RunRecord) -> None:
    assert loaded.ids == [1, 2]
    target = loaded.make()
    assert target.generation(run.app_id) == 1
    (*_, last) = target.known_commits()
    assert last.changes_data
    assert last.stamp is not None
    assert replace(last.stamp, measures=None) == stamp_of(run)
    assert last.rows == 2
    if target.works_alone:
        assert last.stamp.measures == measured(loaded.frame([1, 2])).to_json()


def test_publishing_twice_with_the_same_stamp_is_one_commit(loaded: Rig, run: RunRecord) -> None:
    before = loaded.version
    loaded.publish(run, [1, 2])
    assert (loaded.version, loaded.ids) == (before, [1, 2])


def test_a_generation_that_has_landed_is_not_replaced_by_other_rows(loaded: Rig, run: RunRecord) -> None:
    loaded.publish(run, [3])
    assert loaded.ids == [1, 2]


def test_a_lower_generation_changes_nothing(rig: Rig, run: RunRecord) -> None:
    rig.publish(replace(run, generation=5), [5])
    before = rig.version
    rig.publish(replace(run, generation=4, run_id="late"), [4])
    assert (rig.version, rig.ids) == (before, [5])


def test_a_higher_generation_replaces_the_window_and_no_other(loaded: Rig, run: RunRecord) -> None:
    loaded.publish(a_run(NEXT_DAY), [7])
    loaded.publish(replace(run, generation=2, run_id="second"), [2, 3])
    assert loaded.ids == [2, 3, 7]


def test_windows_count_their_generations_apart(loaded: Rig, run: RunRecord) -> None:
    loaded.publish(a_run(NEXT_DAY, generation=9), [7])
    loaded.publish(replace(run, generation=2), [1])
    assert loaded.ids == [1, 7]


def test_a_row_outside_the_span_is_refused_and_nothing_lands(loaded: Rig, run: RunRecord) -> None:
    mixed = loaded.frame([3]).union(loaded.frame([4], NEXT_DAY))
    later = replace(run, generation=2, run_id="second")
    with pytest.raises(Refused) as caught:
        loaded.publish(later, [], mixed)
    assert caught.value.code == "outside_window"
    assert loaded.ids == [1, 2]
    assert loaded.make().landed(later).answer is Answer.ABSENT


def test_an_empty_result_clears_the_window_and_no_other(loaded: Rig, run: RunRecord) -> None:
    loaded.publish(a_run(NEXT_DAY), [7])
    loaded.publish(replace(run, generation=2), [])
    assert loaded.ids == [7]


def test_keep_records_the_commit_and_leaves_every_row(loaded: Rig, run: RunRecord) -> None:
    later = replace(run, generation=2, run_id="second", base_version=loaded.version)
    write = Write(span(DAY), (), keep=True)
    loaded.make().publish(loaded.frame([]), write, stamp_of(later))
    assert loaded.ids == [1, 2]
    assert loaded.make().landed(later).answer is Answer.MINE


def test_without_a_span_the_whole_table_and_its_schema_are_replaced(loaded: Rig) -> None:
    full = a_run(FULL)
    rows = loaded.frame([8]).selectExpr("order_id", "'x' AS note")
    loaded.make().prepare(schema_of(rows), OWNER, ())
    loaded.make().publish(rows, Write(None, ()), stamp_of(full))
    assert loaded.read().collect() == [(8, "x")]


def test_a_new_column_is_added_and_older_rows_have_no_value_there(loaded: Rig) -> None:
    rows = loaded.frame([7], NEXT_DAY).selectExpr("*", "'gift' AS note")
    loaded.publish(a_run(NEXT_DAY), [], rows)
    found = {row["order_id"]: row["note"] for row in loaded.read().collect()}
    assert found == {1: None, 2: None, 7: "gift"}


def test_a_commit_of_another_window_in_between_is_a_conflict(loaded: Rig, run: RunRecord, tmp_path: Path) -> None:
    writing, go_on = tmp_path / "writing", tmp_path / "go on"
    rows = loaded.frame([3]).withColumn("order_id", _waiting(writing, go_on))
    caught: list[BaseException] = []

    def publish() -> None:
        try:
            loaded.publish(replace(run, generation=2, run_id="slow"), [], rows)
        except BaseException as error:
            caught.append(error)

    slow = threading.Thread(target=publish)
    slow.start()
    try:
        _await(writing)
        loaded.publish(a_run(NEXT_DAY), [7])
    finally:
        go_on.touch()
        slow.join()
    assert [type(error) for error in caught] == ([Conflict] if loaded.conflicts else [])
    assert loaded.ids == ([1, 2, 7] if loaded.conflicts else [3, 7])


# Tokens


def test_a_burned_token_refuses_a_later_commit_and_keeps_every_row(loaded: Rig, run: RunRecord) -> None:
    late = replace(run, generation=2, run_id="late", base_version=loaded.version)
    loaded.make().burn(stamp_of(late, kind="burn"))
    loaded.publish(late, [3])
    assert loaded.ids == [1, 2]
    assert loaded.make().landed(late).answer is Answer.SUPERSEDED


def test_a_burned_token_is_no_change_of_the_data(loaded: Rig, run: RunRecord) -> None:
    before = loaded.version
    loaded.make().burn(stamp_of(replace(run, generation=2), kind="burn"))
    commits = loaded.make().commits(before)
    assert commits is not None
    assert [commit.changes_data for commit in commits] == [False]


def test_burning_a_token_that_has_landed_leaves_the_landed_one(loaded: Rig, run: RunRecord) -> None:
    loaded.make().burn(stamp_of(run, kind="burn"))
    assert loaded.make().landed(run).answer is Answer.MINE


# What has landed


def test_a_run_that_has_landed_is_mine_with_its_commit(loaded: Rig, run: RunRecord) -> None:
    landed = loaded.make().landed(run)
    assert landed.answer is Answer.MINE
    assert landed.commit is not None
    assert landed.commit.version == loaded.version


def test_a_run_that_has_not_landed_is_absent(loaded: Rig, run: RunRecord) -> None:
    assert loaded.make().landed(replace(run, generation=2, run_id="second")).answer is Answer.ABSENT


def test_a_run_whose_number_another_one_used_is_superseded(loaded: Rig, run: RunRecord) -> None:
    assert loaded.make().landed(replace(run, run_id="twin")).answer is Answer.SUPERSEDED


def test_a_run_that_a_newer_one_followed_is_superseded(loaded: Rig, run: RunRecord) -> None:
    loaded.publish(replace(run, generation=2, run_id="second"), [3])
    assert loaded.make().landed(run).answer is Answer.SUPERSEDED


def test_a_log_that_was_cut_off_still_knows_which_number_landed(loaded: Rig, run: RunRecord) -> None:
    loaded.publish(a_run(NEXT_DAY), [7])
    loaded.forget_log()
    target = loaded.make()
    assert target.landed(run).answer is Answer.MINE
    assert target.landed(replace(run, generation=2, run_id="second")).answer is Answer.ABSENT
    assert target.generation(run.app_id) == 1


def test_a_log_that_was_cut_off_does_not_tell_of_commits_that_it_has_lost(loaded: Rig, run: RunRecord) -> None:
    loaded.publish(a_run(NEXT_DAY), [7])
    loaded.forget_log()
    assert loaded.make().commits(-1) is None
    assert [c.stamp.window for c in loaded.make().known_commits() if c.stamp is not None] == [NEXT_DAY]


def test_a_change_by_someone_else_is_seen(loaded: Rig) -> None:
    before = loaded.version
    loaded.sql("DELETE FROM {} WHERE order_id = 1")
    commits = loaded.make().commits(before)
    assert commits is not None
    assert [(commit.changes_data, commit.stamp) for commit in commits] == [(True, None)]


# Owners


def test_preparing_makes_the_table_and_claims_it(rig: Rig) -> None:
    rig.target.prepare(SCHEMA, OWNER, ["order_date"])
    head = rig.make().head()
    assert head is not None
    assert [(c.name, c.type) for c in head.schema] == [(c.name, c.type) for c in SCHEMA]
    assert (head.owner, None if head.owner is None else head.owner.place) == (OWNER, "here")
    assert rig.ids == []


def test_preparing_twice_is_preparing_once(rig: Rig) -> None:
    rig.target.prepare(SCHEMA, OWNER, ())
    before = rig.version
    rig.make().prepare(SCHEMA, OWNER, ())
    assert rig.version == before


@pytest.mark.parametrize(
    "other",
    [replace(OWNER, store_id="store-2", place="there"), replace(OWNER, task="other")],
    ids=["another store", "another task"],
)
def test_a_foreign_owner_is_refused_until_it_adopts(rig: Rig, other: Owner) -> None:
    rig.target.prepare(SCHEMA, OWNER, ())
    with pytest.raises(ForeignTarget) as caught:
        rig.make().prepare(SCHEMA, other, ())
    assert "--adopt" in str(caught.value.next_step)
    rig.make().adopt(other)
    rig.make().prepare(SCHEMA, other, ())
    with pytest.raises(ForeignTarget):
        rig.make().prepare(SCHEMA, OWNER, ())


def test_a_table_that_nobody_owns_is_claimed_with_its_rows(loaded: Rig) -> None:
    loaded.disown()
    loaded.make().prepare(SCHEMA, replace(OWNER, store_id="store-2"), ())
    head = loaded.make().head()
    assert head is not None
    assert head.owner == replace(OWNER, store_id="store-2")
    assert loaded.ids == [1, 2]


# Measures


def test_what_is_measured_in_the_target_equals_the_measure_of_the_rows(loaded: Rig) -> None:
    assert loaded.make().measure(span(DAY), loaded.version) == measured(loaded.frame([2, 1]))


def test_a_window_is_measured_apart_from_the_others_and_at_any_version(loaded: Rig, run: RunRecord) -> None:
    before = loaded.version
    loaded.publish(a_run(NEXT_DAY), [7])
    loaded.publish(replace(run, generation=2, run_id="second"), [])
    target = loaded.make()
    if loaded.keeps_versions:
        assert target.measure(span(DAY), before) == measured(loaded.frame([1, 2]))
    else:
        with pytest.raises(SamewiseError) as caught:
            target.measure(span(DAY), before)
        assert caught.value.code == "no_older_version"
    assert target.measure(span(DAY), loaded.version).rows == 0
    assert target.measure(None, loaded.version) == measured(loaded.frame([7], NEXT_DAY))


def _waiting(writing: Path, go_on: Path) -> Column:
    """A column that says that it is being computed, and waits until it may go on."""
    from pyspark.sql.functions import udf

    started, free = str(writing), str(go_on)

    def wait(value: int) -> int:
        import os
        import time

        with open(started, "w"):
            pass
        while not os.path.exists(free):
            time.sleep(0.02)
        return value

    return udf(wait, "bigint")("order_id")


def _await(file: Path) -> None:
    give_up_at = time.monotonic() + 120
    while not file.exists():
        assert time.monotonic() < give_up_at, f"{file} never came"
        time.sleep(0.02)
