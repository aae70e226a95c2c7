"""Merge, on a real Delta table, against a model of a few lines: whatever is loaded, replayed, mended, widened, killed
or run at once."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from samewise import open_project
from samewise.core import failpoints
from samewise.core.failpoints import Failpoint, Kill, Killed
from samewise.core.measures import row_hash_expression
from samewise.core.schema import Schema
from samewise.state import leases
from samewise.state.store import Store
from tests.support.project import Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Row(NamedTuple):
    """A note of `gone` deletes the key. A tag is in those files alone that have the column."""

    key: int | None
    version: int | None
    note: str
    tag: str | None


class Written(NamedTuple):
    """A row as it is in the table, tombstones too."""

    row: Row
    label: str
    epoch: int

    @property
    def is_gone(self) -> bool:
        return self.row.note == "gone"


Hashes: TypeAlias = dict[tuple[Row, str, bool], int]
"""The hash of every row under every label, without and with the column `tag`."""

COLUMNS = {"id": "bigint", "version": "bigint", "note": "string"}
DAYS = ["2026-04-24", "2026-04-25", "2026-04-26"]
KEYS, VERSIONS, NOTES, TAGS = [None, 1, 2], [None, 1, 2], ["a", "b", "gone"], [None, "t"]
LABELS = ["", "x"]
BY_STRATEGY = {"merge": {"version_by": ["version"], "delete_when": "note = 'gone'"}, "insert_new": {}}


@dataclass(frozen=True)
class File:
    rows: tuple[Row, ...]
    has_tag: bool


@dataclass(frozen=True)
class Load:
    """One command: a day, with the definition and the files of that moment."""

    day: str
    files: tuple[File, ...]
    label: str
    force: bool
    killed_at: Failpoint | None = None
    rewrite: str = "auto"
    """How it is written makes no difference to what is there."""
    must_die: bool = False
    """True where it is known that there is something to write, so that every failpoint is passed."""
    strategy: str = "merge"


@dataclass
class Model:
    """What one clean run after the other leaves."""

    hashes: Hashes
    epoch: int = 0
    era: int = 0
    has_tag: bool = False
    holds: tuple[str, bool] | None = None
    """The definition and the contract of the era."""
    table: dict[int | None, Written] = field(default_factory=dict)
    loaded: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def load(self, load: Load) -> None:
        if not load.force and self.loaded.get(load.day) == (load.files, load.label):
            return
        self.loaded[load.day] = (load.files, load.label)
        self.has_tag = self.has_tag or any(file.has_tag for file in load.files)
        is_new = self.holds != (load.label, self.has_tag)
        if is_new or load.force:
            self.epoch += 1
        if is_new:
            self.era, self.holds = self.epoch, (load.label, self.has_tag)
        best: dict[int | None, Written] = {}
        for row in [row for file in load.files for row in file.rows]:
            one = Written(row, load.label, self.epoch)
            best[row.key] = max(best.get(row.key, one), one, key=self._order)
        for key, one in best.items():
            there = self.table.get(key)
            if there is None or (load.strategy == "merge" and self._replaces(one, there)):
                self.table[key] = one

    def _replaces(self, one: Written, there: Written) -> bool:
        return there.epoch < self.era if one[:2] == there[:2] else self._order(one) > self._order(there)

    def _order(self, one: Written) -> tuple[Any, ...]:
        return one.row.version or 0, one.epoch, one.is_gone, self.hashes[one.row, one.label, self.has_tag]

    def rows(self) -> list[tuple[Any, ...]]:
        living = (one for one in self.table.values() if not one.is_gone)
        return sorted((o.row.key or 0, o.row.version or 0, o.row.note, o.row.tag or "", o.label) for o in living)


@st.composite
def files(draw: st.DrawFn) -> File:
    has_tag = draw(st.integers(0, 3)) == 0
    tags = st.sampled_from(TAGS) if has_tag else st.none()
    row = st.builds(Row, st.sampled_from(KEYS), st.sampled_from(VERSIONS), st.sampled_from(NOTES), tags)
    # An empty file is worth a try, and not one in three.
    least = 0 if draw(st.integers(0, 7)) == 7 else 1
    return File(tuple(draw(st.lists(row, min_size=least, max_size=4))), has_tag)


batch = st.lists(files(), min_size=1, max_size=2).map(tuple)


@st.composite
def commands(draw: st.DrawFn) -> Sequence[Sequence[Load]]:
    """A few batches, then commands that load and replay them in any order, some of them two at once."""
    batches = {day: draw(batch) for day in DAYS}
    steps: list[list[Load]] = []
    for _ in range(draw(st.integers(3, 6))):
        days = draw(st.lists(st.sampled_from(DAYS), min_size=1, max_size=2, unique=True))
        if draw(st.integers(0, 5)) == 0:
            batches[days[0]] = draw(batch)
        label, kill = draw(st.sampled_from(LABELS)), draw(st.none() | st.sampled_from(list(Failpoint)))
        killed_at, rewrite = kill if len(days) == 1 else None, draw(st.sampled_from(["always", "never"]))
        steps.append([Load(day, batches[day], label, draw(st.booleans()), killed_at, rewrite) for day in days])
    return steps


def _one(day: int, *rows: tuple[int | None, int | None, str], dies: Failpoint | None = None, **other: Any) -> Load:
    """A load of one file without tags that has something to write."""
    file = File(tuple(Row(*row, None) for row in rows), has_tag=False)
    settled = {"label": "", "force": False, **other}
    return Load(DAYS[day], (file,), killed_at=dies, must_die=dies is not None, **settled)


EVERY_POINT = [
    [_one(0, (1, 1, "a"), (2, 1, "a"), (2, 1, "b"), dies=Failpoint.PLANNED)],
    [_one(1, (1, 2, "b"), (None, 1, "a"), dies=Failpoint.CHECKED)],
    [_one(2, (2, 2, "gone"), dies=Failpoint.STAGED, rewrite="never")],
    [_one(0, (1, 1, "b"), (2, 1, "a"), (None, 2, "b"), dies=Failpoint.VERIFIED, rewrite="always")],
    [_one(1, (1, 2, "a"), (None, 1, "a"), label="x", dies=Failpoint.COMMITTING)],
    # What landed and was not written down is taken up while another one writes.
    [
        _one(2, (1, 2, "gone"), (2, 2, "a"), label="x", dies=Failpoint.COMMITTED),
        _one(0, (1, 2, "b"), (2, 2, "b"), (None, 2, "a"), label="x"),
    ],
    [_one(1, (1, 2, "a"), (2, 2, "gone"), force=True, dies=Failpoint.CHECKPOINTED)],
    [_one(2, (None, 2, "gone"), (1, 2, "b"), force=True, dies=Failpoint.DELIVERED)],
]
"""A history in which each failpoint kills a load that has something to write: those that are drawn are few."""
INSERTED = [
    [_one(0, (1, 1, "a"), (1, 1, "a"), dies=Failpoint.STAGED, strategy="insert_new")],
    # Both have the key 2: whichever comes first keeps it.
    [
        _one(1, (1, 2, "b"), (2, 1, "a"), (None, 1, "a"), dies=Failpoint.COMMITTED, strategy="insert_new"),
        _one(2, (2, 1, "b"), strategy="insert_new"),
    ],
    [_one(0, (1, 1, "b"), (None, 2, "b"), strategy="insert_new", force=True)],
]


@pytest.fixture(scope="module")
def hashes(spark: SparkSession) -> Hashes:
    """Which of two rows of one version wins is up to their hashes."""
    every = [Row(*values) for values in product(KEYS, VERSIONS, NOTES, TAGS)]
    names = ["id", "version", "note", "tag", "label"]
    labelled = [(*row, label) for row in every for label in LABELS]
    rows = spark.createDataFrame(labelled, "id bigint, version bigint, note string, tag string, label string")
    types = COLUMNS | {"tag": "string", "label": "string"}
    expressions = {
        has_tag: row_hash_expression(Schema.of([(n, types[n]) for n in names if has_tag or n != "tag"]))
        for has_tag in (False, True)
    }
    found = rows.selectExpr(*names, *[f"{sql} AS h{int(has_tag)}" for has_tag, sql in expressions.items()]).collect()
    return {
        (Row(*row[:4]), row["label"], has_tag): row[f"h{int(has_tag)}"] for row in found for has_tag in (False, True)
    }


# Few: one history takes seconds. Not shrunk: a shorter one is easily found by hand.
@settings(
    max_examples=settings().max_examples // 20,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)
@example(steps=EVERY_POINT)
@example(steps=INSERTED)
@given(steps=commands())
def test_any_history_of_loads_replays_changes_kills_and_runs_at_once_ends_as_the_model_says(
    steps: Sequence[Sequence[Load]], spark: SparkSession, hashes: Hashes
) -> None:
    models = [Model(hashes)]
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder) / "shop")
        for step in steps:
            _carry_out(shop, step, spark)
            # Of two that ran at once either may have been the first.
            models = [_after(model, order) for model in models for order in permutations(step)]
            found = _table(shop, spark)
            models = [model for model in models if model.rows() == found]
            assert models, (step, found)


def _after(model: Model, loads: Sequence[Load]) -> Model:
    after = replace(model, table=dict(model.table), loaded=dict(model.loaded))
    for load in loads:
        after.load(load)
    return after


def _carry_out(shop: Shop, step: Sequence[Load], spark: SparkSession) -> None:
    shop.pipeline(
        {
            "schedule": {"every": "day", "start": DAYS[0], "end": "2026-04-27", "timezone": "UTC"},
            "source.schema": COLUMNS,
            "source.drift": {"added": "add"},
            "target.rewrite": step[0].rewrite,
            "retries": {"attempts": 9, "backoff": "200ms"},
            "transform": "orders.sql",
            "params": {"label": step[0].label},
            "write": {
                "strategy": step[0].strategy,
                "key": ["id"],
                "null_keys": "match",
                **BY_STRATEGY[step[0].strategy],
            },
        }
    )
    shop.write("pipelines/orders.sql", "SELECT *, :label AS label FROM source")
    for load in step:
        _put_files(shop, load)
        if load.killed_at is not None:
            fired = _run_and_die(shop, load, spark, load.killed_at)
            assert fired or not load.must_die, load
            # A forced run that was killed is finished by the next command, forced or not.
    with ThreadPoolExecutor(len(step)) as pool:
        for answer in [pool.submit(_run, shop, load, spark) for load in step]:
            answer.result()


def _put_files(shop: Shop, load: Load) -> None:
    folder = shop.root / "landing" / load.day
    wanted = {f"part-{at}.csv": _csv(file) for at, file in enumerate(load.files)}
    there = {file.name: file.read_text() for file in folder.glob("*.csv")} if folder.exists() else {}
    if wanted != there:
        for name in there:
            (folder / name).unlink()
        for name, text in wanted.items():
            shop.write(f"landing/{load.day}/{name}", text)


def _run(shop: Shop, load: Load, spark: SparkSession) -> None:
    with open_project(shop.root, spark=spark) as project:
        result = project.run("orders", window=load.day, force=load.force)
    assert result.exit_code == 0, result.error


def _run_and_die(shop: Shop, load: Load, spark: SparkSession, at: Failpoint) -> bool:
    with failpoints.killing(Kill(at)) as kill, open_project(shop.root, spark=spark) as project, suppress(Killed):
        project.run("orders", window=load.day, force=load.force)
    with Store.open(f"sqlite:///{shop.root}/.samewise/state.db") as store:
        # The dead give nothing back: the next command takes the lease over. What was unchanged did not die.
        assert leases.orphan(store) == kill.fired
    return kill.fired


def _csv(file: File) -> str:
    names = ["id", "version", "note", *(["tag"] if file.has_tag else [])]
    lines = [",".join("" if value is None else str(value) for value in row[: len(names)]) for row in file.rows]
    return "\n".join([",".join(names), *lines, ""])


def _table(shop: Shop, spark: SparkSession) -> list[tuple[Any, ...]]:
    if shop.version() < 0:
        return []
    table = spark.read.format("delta").load(str(shop.root / "warehouse" / "orders"))
    tag = "coalesce(tag, '')" if "tag" in table.columns else "''"
    living = table.where("_samewise_deleted_at IS NULL") if "_samewise_deleted_at" in table.columns else table
    rows = living.selectExpr("coalesce(id, 0)", "coalesce(version, 0)", "note", tag, "label").collect()
    return sorted(tuple(row) for row in rows)
