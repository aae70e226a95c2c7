"""`samewise prove` of tasks that go on from where the last run ended: it begins where there is something to write."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import samewise
from samewise.core.failpoints import Failpoint
from samewise.prove.verdict import Cause, Outcome, Proof
from samewise.state.store import Store
from tests.support.project import Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SINCE: dict[str, Any] = {
    "schedule": None,
    "source": {"type": "delta", "table": "events", "incremental": {"column": "updated_at", "lag": "0s"}},
    "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["updated_at"]},
}
NEW_FILES: dict[str, Any] = {
    "schedule": None,
    "source.path": "landing/*.csv",
    "source.incremental": "new_files",
    "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["order_date"]},
}
CLOCK = """
import time
from pyspark.sql import functions as f

def load(source, context):
    return source.withColumn("at", f.lit(time.time_ns()))
"""


@pytest.fixture(autouse=True)
def two_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """One kill before a commit and one behind it, to save minutes: the crash suite has them all."""
    points = [Failpoint.COMMITTING, Failpoint.COMMITTED]
    monkeypatch.setattr("samewise.wiring.laboratory.points_of", lambda job: points)


def proved(shop: Shop, spark: SparkSession, **asked: Any) -> Proof:
    with samewise.open_project(shop.root, spark=spark) as project:
        return project.prove("orders", **asked)


def told(proof: Proof) -> list[str]:
    return [f"{one.experiment} {one.detail}: {one.outcome} {one.counts} {one.message}" for one in proof.verdicts]


def events(shop: Shop, *rows: tuple[int, int]) -> None:
    """Append rows (number, hour of their last change) to the source."""
    times = [datetime(2026, 4, 25, hour, tzinfo=UTC) for _, hour in rows]
    columns = {"order_id": pa.array([n for n, _ in rows], pa.int64()), "updated_at": pa.array(times)}
    table = pa.table(columns).cast(pa.schema([("order_id", pa.int64()), ("updated_at", pa.timestamp("us", tz="UTC"))]))
    write_deltalake(shop.root / "warehouse" / "events", table, mode="append")


def file(shop: Shop, day: int, *rows: tuple[int, str]) -> None:
    lines = [f"{number},{amount},new,2026-04-0{day}" for number, amount in rows]
    shop.write(f"landing/{day}.csv", "\n".join(["order_id,amount,status,order_date", *lines, ""]))


def loaded(shop: Shop, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two loads, of three rows and of two, one of which is there already; and a third command that finds nothing."""
    for number in (1, 2):
        at = datetime(2026, 4, 25, 3 * number, 30, tzinfo=UTC)
        monkeypatch.setattr(Store, "now", lambda self, at=at: at)
        if kind == "since":
            events(shop, *([(1, 1), (2, 2), (3, 3)] if number == 1 else [(3, 4), (4, 5)]))
        else:
            file(shop, number, *([(1, "1"), (2, "2"), (3, "3")] if number == 1 else [(3, "9"), (4, "4")]))
        answer = shop.run(window=None)
        assert (answer.code, answer.window["status"]) == (0, "succeeded"), answer.text
    assert shop.run(window=None).window["status"] == "unchanged"


@pytest.mark.parametrize(
    ("kind", "changes", "only"),
    [("since", SINCE, []), ("new files", NEW_FILES, ["twice", "killed"])],
)
def test_what_is_up_to_date_is_proved_from_before_its_last_load(
    shop: Shop,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    changes: dict[str, Any],
    only: list[str],
) -> None:
    shop.pipeline(changes)
    loaded(shop, kind, monkeypatch)
    proof = proved(shop, spark, only=only)
    assert proof.holds, told(proof)
    counts = {f"{one.experiment} {one.detail}": one.counts for one in proof.verdicts}
    # The forks begin with the rows of the first load, and the second one is made once more.
    assert counts["killed at committing"] == (3, 4)
    assert counts["killed at committed"] == (4, 4)
    assert counts["twice the same input once more"] == (4, 4)
    assert proof.notes == ()


@pytest.mark.parametrize(("kind", "changes"), [("since", SINCE), ("new files", NEW_FILES)])
def test_a_clock_is_found_though_the_pipeline_is_up_to_date(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, kind: str, changes: dict[str, Any]
) -> None:
    shop.write("pipelines/orders.py", CLOCK)
    shop.pipeline({**changes, "transform": "orders.py:load"})
    loaded(shop, kind, monkeypatch)
    proof = proved(shop, spark, only=["twice", "killed"])
    assert [one.outcome for one in proof.verdicts] == [Outcome.DIFFERENT] * 3, told(proof)
    for one in proof.verdicts:
        assert one.difference is not None
        # Of the first load nothing was touched, and of the second one nothing was passed over.
        assert one.difference.changed == 2
    assert {one.cause for one in proof.verdicts} == {Cause.CLOCK}
