"""`samewise prove` on whole pipelines: sound ones pass every experiment, and what breaks one is found."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

import samewise
from samewise.core.errors import Refused, TransformFailed, UsageError
from samewise.core.failpoints import Failpoint
from samewise.prove.clean import Clean
from samewise.prove.compare import measure
from samewise.prove.judge import Trial
from samewise.prove.laboratory import Fork, Table
from samewise.prove.verdict import Cause, Outcome, Proof, Verdict
from samewise.wiring import elsewhere
from tests.support.project import DAY, NEXT_DAY, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYED = {"order_id": "bigint", "amount": "decimal(12,2)", "status": "string", "version": "bigint"}
MERGE: dict[str, Any] = {
    "source.schema": KEYED,
    "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["version"]},
}


def proved(shop: Shop, spark: SparkSession, **asked: Any) -> Proof:
    with samewise.open_project(shop.root, spark=spark) as project:
        return project.prove("orders", **asked)


def outcomes(proof: Proof) -> dict[str, str]:
    return {f"{one.experiment} {one.detail}".strip(): one.outcome.value for one in proof.verdicts}


def told(proof: Proof) -> list[str]:
    return [f"{one.experiment} {one.detail}: {one.outcome} {one.message}" for one in proof.verdicts]


def the_different(proof: Proof) -> list[Verdict]:
    return [one for one in proof.verdicts if one.outcome is Outcome.DIFFERENT]


def keyed_days(shop: Shop) -> None:
    for day, version in (("2026-04-24", 1), (DAY, 2), (NEXT_DAY, 3)):
        rows = [(1, f"{version}.00", "seen", version), (10 + version, "1.00", "new", version)]
        shop.orders(rows, day=day, columns=tuple(KEYED))


# Sound ones


def test_a_sound_pipeline_is_the_same_in_every_experiment_and_the_last_window_with_data_is_proved(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline({"expect": ["order_id is not null", {"unique": ["order_id"]}]})
    shop.orders(day="2026-04-24")
    shop.orders()
    assert shop.run(window="2026-04-24").code == 0
    proof = proved(shop, spark)
    assert proof.holds, told(proof)
    assert proof.windows == (DAY,)
    assert proof.clean is not None
    assert (proof.clean.rows, proof.clean.key, proof.clean.duplicate_keys) == (2, ("order_id",), 0)
    killed = [one.detail for one in proof.verdicts if one.experiment == "killed"]
    assert killed == [f"at {point}" for point in Failpoint]
    assert {one.experiment for one in proof.verdicts} == {
        *("twice", "killed", "shuffled", "out of order", "empty", "concurrent")
    }
    # The other window's rows are there in every fork, and counted.
    by_name = {f"{one.experiment} {one.detail}": one for one in proof.verdicts}
    assert by_name["empty emptied, then restored"].counts == (4, 2, 4)
    assert by_name["killed at committing"].counts == (2, 4)
    assert by_name["killed at committed"].counts == (4, 4)


def test_a_merge_is_proved_over_three_windows_in_other_orders(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(MERGE)
    keyed_days(shop)
    for day in ("2026-04-24", DAY, NEXT_DAY):
        assert shop.run(window=day).code == 0
    proof = proved(shop, spark, only=["twice", "order", "empty"])
    assert proof.holds, told(proof)
    assert proof.windows == ("2026-04-24", DAY, NEXT_DAY)
    assert outcomes(proof).keys() == {
        "twice run again with --force",
        f"out of order {NEXT_DAY}, {DAY}, 2026-04-24",
        f"out of order {DAY}, {NEXT_DAY}, 2026-04-24",
        "out of order 2026-04-24 replayed last",
        "empty emptied, then restored",
    }
    # The fork is the target as it was before these windows, so that there is something left to write.
    first_order = next(one for one in proof.verdicts if one.experiment == "out of order")
    assert first_order.counts == (2, 3, 4)


def test_a_merge_survives_kills_other_layouts_and_another_runner(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Some of the points, to save minutes: before, at and behind the commit. The crash suite has them all.
    points = [Failpoint.STAGED, Failpoint.COMMITTING, Failpoint.COMMITTED, Failpoint.CHECKPOINTED]
    monkeypatch.setattr("samewise.wiring.laboratory.points_of", lambda job: points)
    shop.pipeline({**MERGE, "write.delete_when": "status = 'gone'"})
    for day, version in ((DAY, 1), (NEXT_DAY, 2)):
        # Ties, and a key that is deleted: whichever row wins must not depend on where it lies.
        rows = [(n % 5, f"{n}.00", "gone" if n == 3 else "new", version) for n in range(1, 20)]
        shop.orders(rows, day=day, columns=tuple(KEYED))
        assert shop.run(window=day).code == 0
    proof = proved(shop, spark, window=NEXT_DAY, only=["killed", "shuffled", "concurrent"])
    assert proof.holds, told(proof)
    assert proof.windows == (NEXT_DAY,), "without `order` the windows before it are not needed"
    assert [one.experiment for one in proof.verdicts] == ["killed"] * 4 + ["shuffled"] * 2 + ["concurrent"]


@pytest.mark.parametrize(
    ("changes", "only"),
    [
        pytest.param({"write": {"strategy": "replace_window"}}, ["twice", "empty"], id="marked"),
        pytest.param(
            {"write": {"strategy": "refresh"}, "schedule": None, "source.path": "landing/*/*.csv"},
            ["twice", "killed"],
            id="refresh",
        ),
    ],
)
def test_other_sound_strategies_pass(
    shop: Shop, spark: SparkSession, changes: Mapping[str, Any], only: list[str]
) -> None:
    shop.pipeline(changes)
    shop.orders()
    shop.orders([(2, "0.25", "paid"), (3, "7.00", "new")], day=NEXT_DAY)
    proof = proved(shop, spark, only=only)
    assert proof.holds, told(proof)


INSERT: dict[str, Any] = {"source.schema": KEYED, "write": {"strategy": "insert_new", "key": ["order_id"]}}


def test_insert_new_does_not_depend_on_the_order_of_events_that_are_sent_twice(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(INSERT)
    shop.orders([(1, "10.50", "new", 1), (2, "0.25", "paid", 1)], columns=tuple(KEYED))
    shop.orders([(2, "0.25", "paid", 1), (3, "7.00", "new", 1)], day=NEXT_DAY, columns=tuple(KEYED))
    proof = proved(shop, spark, only=["twice", "order"])
    assert proof.holds, told(proof)


def test_insert_new_of_two_events_with_one_key_is_found_to_depend_on_the_order(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(INSERT)
    shop.orders([(2, "0.25", "paid", 1)], columns=tuple(KEYED))
    shop.orders([(2, "9.99", "sent", 1)], day=NEXT_DAY, columns=tuple(KEYED))
    proof = proved(shop, spark, only=["order"])
    assert outcomes(proof) == {
        f"out of order {NEXT_DAY}, {DAY}": "different",
        f"out of order {DAY} replayed last": "same",
    }
    found = the_different(proof)[0]
    assert found.difference is not None
    assert set(found.difference.changed_columns) == {"amount", "status"}
    assert found.cause is Cause.TIE, "nothing was replaced: the first one stays"


def test_a_window_by_key_that_is_named_changes_places_with_those_before_it(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(INSERT)
    shop.orders([(1, "no number", "new", 1)], day="2026-04-24", columns=tuple(KEYED))
    shop.orders([(2, "0.25", "paid", 1)], columns=tuple(KEYED))
    shop.orders([(2, "9.99", "sent", 1), (3, "1.00", "new", 1)], day=NEXT_DAY, columns=tuple(KEYED))
    proof = proved(shop, spark, window=NEXT_DAY, only=["order"])
    assert outcomes(proof) == {
        f"out of order {NEXT_DAY}, {DAY}": "different",
        f"out of order {DAY} replayed last": "same",
    }
    # What nobody asked for and cannot be loaded is no reason to refuse.
    (note,) = proof.notes
    assert note.startswith("2026-04-24 is left out, nobody asked for it: ")
    alone = proved(shop, spark, window=DAY, only=["order"])
    assert [(one.outcome, one.message) for one in alone.verdicts] == [
        (Outcome.SKIPPED, "no window before it has data that can be loaded, so there is no other order")
    ]
    one = proved(shop, spark, last=1, only=["order"])
    assert one.verdicts[0].message == "one window was asked for; --last N takes more"


def test_a_task_reads_what_another_one_wrote_on_the_same_fork_and_each_is_killed(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two of the points, to save minutes: one before a commit, one behind it.
    points = [Failpoint.COMMITTING, Failpoint.COMMITTED]
    monkeypatch.setattr("samewise.wiring.laboratory.points_of", lambda job: points)
    shop.write(
        "pipelines/orders.yaml",
        """
pipeline: orders
schedule: {every: day, start: 2026-04-24, end: 2026-04-28}
tasks:
  - task: clean
    source: {type: files, path: "landing/{{ window.start | date }}/*.csv", format: csv,
             schema: {order_id: bigint, amount: "decimal(12,2)", status: string, order_date: date}}
    target: {type: delta, table: clean}
    write: {strategy: replace_window, window_column: order_date}
  - task: totals
    depends_on: [clean]
    source: {type: delta, table: clean, window_column: order_date}
    transform: totals.sql
    target: {type: delta, table: totals}
    write: {strategy: replace_window, window_column: order_date}
""",
    )
    shop.write("pipelines/totals.sql", "SELECT order_date, sum(amount) AS amount FROM source GROUP BY order_date\n")
    shop.orders()
    proof = proved(shop, spark, only=["killed", "empty"])
    assert proof.holds, told(proof)
    assert [one.detail for one in proof.verdicts if one.experiment == "killed"] == [
        f"{task} at {point}" for task in ("clean", "totals") for point in points
    ]
    assert shop.version("clean") == -1, "nothing was ever run for real"


def test_what_on_empty_answers_is_expected_and_told(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"write.on_empty": "fail"})
    shop.orders()
    proof = proved(shop, spark, only=["empty"])
    assert proof.holds, told(proof)
    assert proof.verdicts[0].message.startswith("the empty input was refused, as declared: ")
    assert "the result is empty" in proof.verdicts[0].message


# Broken ones: in Python, where the check of the SQL cannot see it


CLOCK = """
import time
from pyspark.sql import functions as f

def load(source, context):
    return source.withColumn("at", f.lit(time.time_ns()))
"""
UUID = """
import uuid
from pyspark.sql import functions as f

def load(source, context):
    return source.withColumn("id", f.lit(str(uuid.uuid4())))
"""
TIE = """
def load(source, context):
    return source.dropDuplicates(["status"])
"""
FLOAT_SUM = """
from pyspark.sql import functions as f

def load(source, context):
    return source.groupBy("order_date").agg(f.sum(f.col("amount").cast("double") / 3).alias("total"))
"""
MEMORY = """
import pathlib

def load(source, context):
    file = pathlib.Path(__file__).with_name("seen")
    seen = int(file.read_text()) if file.exists() else 0
    file.write_text(str(seen + 1))
    return source.where(f"order_id > {seen}")
"""
ARRIVAL = """
from pyspark.sql import functions as f

def load(source, context):
    return source.groupBy("order_date").agg(f.concat_ws(",", f.collect_list("order_id")).alias("orders"))
"""
BROKEN = {
    "clock": (CLOCK, "twice", Cause.CLOCK),
    "uuid": (UUID, "twice", Cause.GENERATED_KEY),
    "tie": (TIE, "shuffled", Cause.TIE),
    "float sum": (FLOAT_SUM, "shuffled", Cause.DOUBLE_SUM),
    "list by arrival": (ARRIVAL, "shuffled", Cause.ORDER_DEPENDENT),
    "state in a file": (MEMORY, "twice", Cause.WATERMARK_FIRST),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_transform_is_found_its_rows_are_shown_and_its_cause_is_named(
    shop: Shop, spark: SparkSession, name: str
) -> None:
    code, experiment, cause = BROKEN[name]
    shop.write("pipelines/orders.py", code)
    shop.pipeline({"transform": "orders.py:load"})
    shop.orders([(n, f"{n}.{n:02}", f"status {n % 5}") for n in range(1, 60)])
    proof = proved(shop, spark, only=[experiment])
    assert not proof.holds, told(proof)
    found = the_different(proof)
    assert found, told(proof)
    assert found[0].difference is not None
    assert found[0].difference.examples
    assert {one.cause for one in found} == {cause}, told(proof)
    assert found[0].message


TIE_OF_A_KEY = """
def load(source, context):
    return source.dropDuplicates(["order_id"])
"""


@pytest.mark.parametrize(
    ("code", "experiment", "cause"),
    [
        pytest.param(TIE_OF_A_KEY, "shuffled", Cause.TIE, id="tie"),
        # Some rows are missing after a kill: that is all that can be seen of it.
        pytest.param(MEMORY, "killed", Cause.HALF_WRITTEN, id="state in a file"),
    ],
)
def test_a_broken_transform_before_a_merge_is_found(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, code: str, experiment: str, cause: Cause
) -> None:
    monkeypatch.setattr("samewise.wiring.laboratory.points_of", lambda job: [Failpoint.STAGED, Failpoint.COMMITTED])
    shop.write("pipelines/orders.py", code)
    shop.pipeline({**MERGE, "transform": "orders.py:load"})
    # Of every key several rows of one version: merge itself would have a total order.
    shop.orders([(n % 9, f"{n}.00", "new", 1) for n in range(1, 60)], columns=tuple(KEYED))
    proof = proved(shop, spark, window=DAY, only=[experiment])
    found = the_different(proof)
    assert found, told(proof)
    assert {one.cause for one in found} == {cause}, told(proof)


# Void experiments


def test_a_failpoint_that_is_never_reached_makes_the_kill_void_and_prove_exits_3(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from samewise.core import failpoints

    reach = failpoints.reach
    monkeypatch.setattr(failpoints, "reach", lambda point: None if point is Failpoint.COMMITTED else reach(point))
    shop.orders()
    answer = shop.do("prove", "orders", "--only", "killed", "--json")
    assert answer.code == 3, answer.text
    found = {one["detail"]: (one["outcome"], one["message"]) for one in answer.json["verdicts"]}
    assert found["at committed"] == ("void", "the kill at committed never fired")
    # The points behind it are reached all the same, by runs of their own.
    assert found["at checkpointed"][0] == "same"


def test_a_kill_after_which_something_is_written_was_none(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("samewise.run.window.Killed", KeyError)  # so that the lease is given back
    shop.orders()
    proof = proved(shop, spark, only=["killed"])
    assert {one.outcome for one in proof.verdicts} == {Outcome.VOID}
    assert "still written after the kill" in proof.verdicts[0].message


class Skipped:
    """A fork that holds the right rows, and on which no commit landed."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def tables(self) -> list[Table]:
        return [self._table]

    def total(self) -> int:
        return 2

    def identity(self, task: str) -> None:
        return None

    def wrote(self) -> dict[str, bool]:
        return {"load": False}


def test_a_rerun_whose_write_was_skipped_is_void_even_if_the_rows_are_right(spark: SparkSession) -> None:
    table = Table("load", "orders", spark.range(2), (), "replace_window")
    clean = Clean([table], {"load": measure(table.rows)}, {"load": True}, total=2, seconds=1.0)
    fork = cast(Fork, Skipped(table))
    void = Trial(clean, "killed", "at committing").judged(fork)
    assert (void.outcome, void.message) == (Outcome.VOID, "nothing was written by load: a token skipped it")
    # By key, what is there already needs no commit: whoever asks says so.
    assert Trial(clean, "twice", "").judged(fork, must_write=()).outcome is Outcome.SAME


@pytest.mark.parametrize("must_write", [None, ()])
def test_where_even_the_clean_run_wrote_nothing_though_it_read_rows_every_experiment_is_void(
    spark: SparkSession, must_write: tuple[str, ...] | None
) -> None:
    table = Table("load", "orders", spark.range(2), (), "merge")
    clean = Clean([table], {"load": measure(table.rows)}, {"load": False}, total=2, seconds=1.0, had_rows=True)
    fork = cast(Fork, Skipped(table))
    void = Trial(clean, "killed", "at committing").judged(fork, must_write=must_write)
    assert void.outcome is Outcome.VOID
    assert void.message.startswith("the clean run wrote nothing, so nothing was tried")
    # Where the orders of several windows are tried, those before the newest one count as well; and an input without
    # a row has nothing to write.
    several = replace(clean, earlier={"load": True})
    assert "a token skipped it" in Trial(several, "out of order", "").judged(fork, every_window=True).message
    assert Trial(replace(clean, had_rows=False), "killed", "").judged(fork).outcome is Outcome.SAME


# Real processes


def test_sigkill_kills_a_process_on_the_fork_and_the_next_run_resumes_what_it_left(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[int] = []
    run = subprocess.run

    def watched(*words: Any, **options: Any) -> Any:
        done = run(*words, **options)
        codes.append(done.returncode)
        return done

    monkeypatch.setattr(subprocess, "run", watched)
    monkeypatch.setattr("samewise.wiring.laboratory.points_of", lambda job: [Failpoint.COMMITTED])
    shop.settings(spark={"master": "local[1]"})
    shop.orders()
    proof = proved(shop, spark, only=["killed"], sigkill=True)
    assert proof.holds, told(proof)
    assert codes == [-9]
    assert proof.verdicts[0].counts == (2, 2)
    assert shop.version() == -1


# What a person sees


def test_the_answer_fits_80_columns_progress_goes_to_stderr_and_reports_to_files(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shop.orders()
    page, results = shop.root / "proof.html", shop.root / "proof.xml"
    answer = shop.do("prove", "orders", "--only", "twice, order", "--html", page, "--junit", results)
    assert answer.code == 0, answer.text
    assert max(map(len, answer.stdout.splitlines())) <= 80
    assert f"orders {DAY}: the same in 1 experiment out of 1" in answer.stdout
    assert "a window replaces its own rows only" in answer.stdout
    assert "ok twice run again with --force  same" in answer.stderr
    assert "<html" in page.read_text()
    assert 'tests="2"' in results.read_text()


# What is asked, and what cannot be proved


def test_a_clean_run_that_fails_is_told_in_three_parts_and_leaves_with_its_own_code(
    shop: Shop, spark: SparkSession
) -> None:
    shop.orders([(1, "no number", "new")])
    refused = shop.do("prove", "orders", "--window", DAY)
    assert refused.code == 3
    assert "the clean run failed" in refused.stderr
    assert "kept: the real target and its state are untouched" in refused.stderr
    assert "next: " in refused.stderr
    shop.write("pipelines/orders.py", "def load(source, context):\n    raise KeyError('mine')\n")
    shop.pipeline({"transform": "orders.py:load"})
    shop.orders()
    with pytest.raises(TransformFailed):
        proved(shop, spark, window=DAY)


def test_what_cannot_be_asked_is_told_before_spark_is_needed(shop: Shop) -> None:
    with samewise.open_project(shop.root) as project:
        with pytest.raises(UsageError, match="no experiment 'thrice'"):
            project.prove("orders", only=["thrice"])
        with pytest.raises(UsageError, match="exclude each other"):
            project.prove("orders", window=DAY, last=2)
        with pytest.raises(Refused, match="none of its newest windows has data"):
            project.prove("orders")
    assert shop.do("prove", "nothing").code == 2
    nowhere = shop.do("prove", "orders", "--html", shop.root / "no" / "page.html")
    assert (nowhere.code, "cannot be written" in nowhere.stderr) == (2, True)


# Rows of other windows


REACHES_OUT = """
import pathlib

def load(source, context):
    root = pathlib.Path(__file__).parent.parent / ".samewise" / "prove"
    forks = sorted(root.glob("*/fork-*/tables/load"), key=lambda path: int(path.parts[-3].removeprefix("fork-")))
    # 5 is the fork of the first experiment: another day's row gets another value there.
    if forks[-1].parts[-3] == "fork-5" and SPOILS:
        source.sparkSession.sql(f"UPDATE delta.`{forks[-1]}` SET amount = amount + 1 WHERE order_date <> '2026-04-25'")
    return source
"""


@pytest.mark.parametrize("spoils", [False, True], ids=["sound", "broken"])
def test_rows_of_other_windows_are_compared_also_where_they_lie_in_one_file_with_those_of_the_window(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, spoils: bool
) -> None:
    shop.write("pipelines/orders.py", REACHES_OUT.replace("SPOILS", str(spoils)))
    shop.pipeline({"transform": "orders.py:load"})
    shop.orders()
    shop.orders([(3, "1.00", "new"), (4, "2.00", "new")], day=NEXT_DAY)
    (shop.root / ".samewise" / "prove" / "x" / "fork-0" / "tables" / "load").mkdir(parents=True)
    for day in (DAY, NEXT_DAY):
        assert shop.run(window=day).code == 0
    spark.sql(f"OPTIMIZE delta.`{shop.root}/warehouse/orders`")
    # Without a state store the fork is the table as it is: one file, of which the window's rows are replaced.
    (shop.root / ".samewise" / "state.db").unlink()
    looked: list[object] = []
    measured = elsewhere._measured

    def watched(frame: Any) -> Any:
        looked.append(frame)
        return measured(frame)

    monkeypatch.setattr(elsewhere, "_measured", watched)
    proof = proved(shop, spark, window=DAY, only=["shuffled"])
    assert len(looked) == 4, "both sides of both layouts"
    if not spoils:
        assert proof.holds, told(proof)
        return
    (found,) = the_different(proof)
    assert found.cause is Cause.OTHER_WINDOWS, told(proof)
    assert "4 in all as after one clean run, with other values" in found.message
    assert found.difference is not None
    assert (found.difference.changed, found.difference.changed_columns) == (2, ("amount",))
