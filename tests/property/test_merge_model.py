"""Merge, on a real Delta table, against a model of a few lines: whatever is loaded, replayed, mended or killed."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samewise import open_project
from samewise.core import failpoints
from samewise.core.failpoints import Failpoint
from samewise.core.measures import row_hash_expression
from samewise.core.schema import Schema
from tests.support.project import Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row: TypeAlias = tuple[int, int | None, str]
"""Key, version, note. A note of `gone` deletes the key."""

COLUMNS = {"id": "bigint", "version": "bigint", "note": "string"}
DAYS = ["2026-04-24", "2026-04-25", "2026-04-26"]
KEYS, VERSIONS, NOTES = range(3), [None, 1, 2], ["a", "b", "gone"]
LABELS = ["", "x"]


class Killed(BaseException):
    """Stands in for SIGKILL: nothing catches it."""


@dataclass(frozen=True)
class Load:
    """One command: a day, with the definition and the files of that moment."""

    day: str
    files: tuple[tuple[Row, ...], ...]
    label: str
    force: bool
    killed_at: Failpoint | None


@dataclass
class Model:
    """What one clean run after the other leaves."""

    hashes: dict[tuple[int, int | None, str], int]
    epoch: int = 0
    era: int = 0
    definition: str | None = None
    table: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    loaded: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def load(self, load: Load) -> None:
        rows = [row for file in load.files for row in file]
        if not load.force and self.loaded.get(load.day) == (load.files, load.label):
            return
        self.loaded[load.day] = (load.files, load.label)
        if self.definition != load.label:
            self.epoch += 1
            self.era, self.definition = self.epoch, load.label
        elif load.force:
            self.epoch += 1
        best: dict[int, tuple[Any, ...]] = {}
        for key, version, note in rows:
            labelled = note if note == "gone" else note + load.label
            place = (version or 0, self.epoch, note == "gone", self.hashes[key, version, labelled], version, labelled)
            best[key] = max(best.get(key, place), place)
        for key, place in best.items():
            there = self.table.get(key)
            if there is None:
                self.table[key] = place
            elif _content(place) == _content(there):
                if there[1] < self.era:
                    self.table[key] = place
            elif place[:4] > there[:4]:
                self.table[key] = place

    def rows(self) -> list[tuple[Any, ...]]:
        return sorted((key, p[4] or 0, p[5]) for key, p in self.table.items() if not p[2])


def _content(place: tuple[Any, ...]) -> tuple[Any, ...]:
    return place[0], place[2], place[3]


row = st.tuples(st.sampled_from(KEYS), st.sampled_from(VERSIONS), st.sampled_from(NOTES))
files = st.lists(st.lists(row, max_size=4).map(tuple), min_size=1, max_size=2).map(tuple)


@st.composite
def commands(draw: st.DrawFn) -> Sequence[Load]:
    """A few batches, then commands that load and replay them in any order."""
    batches = {day: draw(files) for day in DAYS}
    loads: list[Load] = []
    for _ in range(draw(st.integers(3, 6))):
        day = draw(st.sampled_from(DAYS))
        if draw(st.integers(0, 5)) == 0:
            batches[day] = draw(files)
        loads.append(
            Load(
                day,
                batches[day],
                draw(st.sampled_from(LABELS)),
                draw(st.booleans()),
                draw(st.none() | st.sampled_from(list(Failpoint))),
            )
        )
    return loads


@pytest.fixture(scope="module")
def hashes(spark: SparkSession) -> dict[tuple[int, int | None, str], int]:
    """The hash of every row that there can be: which of two rows of one version wins is up to it."""
    notes = [note + label for note in NOTES if note != "gone" for label in LABELS] + ["gone"]
    every = [(key, version, note) for key in KEYS for version in VERSIONS for note in notes]
    schema = ", ".join(f"{name} {type}" for name, type in COLUMNS.items())
    rows = spark.createDataFrame(every, schema)
    found = rows.selectExpr("*", f"{row_hash_expression(Schema.of(list(COLUMNS.items())))} AS h").collect()
    return {(row["id"], row["version"], row["note"]): row["h"] for row in found}


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(loads=commands())
def test_any_history_of_loads_replays_mended_transforms_and_kills_ends_as_the_model_says(
    loads: Sequence[Load], spark: SparkSession, hashes: dict[tuple[int, int | None, str], int]
) -> None:
    model = Model(hashes)
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder) / "shop")
        for load in loads:
            _carry_out(shop, load, spark)
            model.load(load)
            assert _table(shop, spark) == model.rows(), load


def _carry_out(shop: Shop, load: Load, spark: SparkSession) -> None:
    shop.pipeline(
        {
            "schedule": {"every": "day", "start": DAYS[0], "end": "2026-04-27", "timezone": "UTC"},
            "source.schema": COLUMNS,
            "transform": "orders.sql",
            "params": {"label": load.label},
            "write": {
                "strategy": "merge",
                "key": ["id"],
                "version_by": ["version"],
                "delete_when": "note = 'gone'",
            },
        }
    )
    shop.write(
        "pipelines/orders.sql",
        "SELECT id, version, IF(note = 'gone', note, concat(note, :label)) AS note FROM source",
    )
    folder = shop.root / "landing" / load.day
    wanted = {f"part-{at}.csv": _csv(rows) for at, rows in enumerate(load.files)}
    there = {file.name: file.read_text() for file in folder.glob("*.csv")} if folder.exists() else {}
    if wanted != there:
        for name in there:
            (folder / name).unlink()
        for name, text in wanted.items():
            shop.write(f"landing/{load.day}/{name}", text)
    if load.killed_at is not None:
        _run_and_die(shop, load, spark, load.killed_at)
        # A forced run that was killed is finished by the next command, forced or not.
    with open_project(shop.root, spark=spark) as project:
        result = project.run("orders", window=load.day, force=load.force)
    assert result.exit_code == 0, result.error


def _run_and_die(shop: Shop, load: Load, spark: SparkSession, at: Failpoint) -> None:
    reach = failpoints.reach

    def die(point: Failpoint) -> None:
        if point is at:
            raise Killed

    failpoints.reach = die
    try:
        with open_project(shop.root, spark=spark) as project:
            project.run("orders", window=load.day, force=load.force)
    except Killed:
        pass
    finally:
        failpoints.reach = reach


def _csv(rows: Sequence[Row]) -> str:
    lines = [f"{key},{'' if version is None else version},{note}" for key, version, note in rows]
    return "\n".join(["id,version,note", *lines, ""])


def _table(shop: Shop, spark: SparkSession) -> list[tuple[Any, ...]]:
    if shop.version() < 0:
        return []
    table = spark.read.format("delta").load(str(shop.root / "warehouse" / "orders"))
    rows = table.where("_samewise_deleted_at IS NULL").selectExpr("id", "coalesce(version, 0)", "note").collect()
    return sorted(tuple(row) for row in rows)
