"""A small project to be killed in, and everything that can be seen of it afterwards."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from deltalake import DeltaTable

from samewise.core.keyed import DELETED_AT
from samewise.core.records import Stamp
from tests.support.crash import Command, Ended, SparkServer, Starter, Zygote

Row: TypeAlias = tuple[object, ...]
Order: TypeAlias = tuple[int, str, str]
"""Number, amount, status."""

DAYS = ["2026-04-01", "2026-04-02", "2026-04-03", "2026-04-04"]
ORDERS: dict[str, list[Order]] = {
    DAYS[0]: [(101, "10.00", "paid"), (102, "20.50", "new"), (103, "0.01", "paid")],
    DAYS[1]: [(201, "5.00", "new"), (202, "7.25", "paid")],
    DAYS[2]: [(301, "99.99", "paid")],
    DAYS[3]: [(401, "1.00", "new"), (402, "2.00", "new"), (403, "3.00", "paid"), (404, "4.00", "paid")],
}
CHANGED: list[Order] = [(201, "5.50", "paid"), (203, "8.75", "new"), (204, "9.00", "new")]
DELETING: list[Order] = [(102, "20.50", "gone"), (201, "5.50", "gone"), (101, "11.00", "paid"), (205, "1.00", "gone")]
"""For a pipeline with keys: the second day deletes and changes what the first one brought."""
RATES = [("EUR", "1.0000"), ("USD", "1.0800")]
CHANGED_RATES = [("EUR", "1.0000"), ("USD", "1.1100"), ("CHF", "0.9500")]

_ORDERS = """\
pipeline: {name}
schedule: {{every: day, start: 2026-04-01, end: 2026-04-05, timezone: Europe/Berlin}}
source:
  type: files
  path: landing/orders/{{{{ window.start | date }}}}/*.csv
  format: csv
  schema: {{order_id: bigint, amount: "decimal(12,2)", status: string, order_date: date}}
{rest}"""
_EXPECT = """\
expect:
  - order_id is not null
  - unique: [order_id]
"""
_PIPELINES = {
    "orders": _ORDERS.format(
        name="orders",
        rest="transform: orders.sql\n"
        "target: {type: delta, table: orders, partition_by: [order_date]}\n"
        "write: {strategy: replace_window, window_column: order_date}\n" + _EXPECT,
    ),
    "plain": _ORDERS.format(
        name="plain",
        rest="target: {type: delta, table: plain}\nwrite: {strategy: replace_window, window_column: order_date}\n",
    ),
    "classic": _ORDERS.format(
        name="classic",
        rest="target: {type: delta, table: classic, writer: spark}\n"
        "write: {strategy: replace_window, window_column: order_date}\n",
    ),
    "entities": _ORDERS.format(
        name="entities",
        rest="target: {type: delta, table: entities, rewrite: always}\n"
        "write: {strategy: merge, key: [order_id], version_by: [order_date], delete_when: status = 'gone'}\n" + _EXPECT,
    ),
    "merged": _ORDERS.format(
        name="merged",
        rest="target: {type: delta, table: merged, rewrite: never}\n"
        "write: {strategy: merge, key: [order_id], version_by: [order_date], delete_when: status = 'gone'}\n",
    ),
    "events": _ORDERS.format(
        name="events",
        rest="target: {type: delta, table: events}\nwrite: {strategy: insert_new, key: [order_id]}\n",
    ),
    "feed": """\
pipeline: feed
source:
  type: files
  path: landing/orders/*/orders.csv
  format: csv
  schema: {order_id: bigint, amount: "decimal(12,2)", status: string, order_date: date}
  incremental: new_files
target: {type: delta, table: feed}
write: {strategy: insert_new, key: [order_id]}
""",
    "copy": """\
pipeline: copy
source: {type: delta, table: orders, incremental: {column: order_date, overlap: 1d}}
target: {type: delta, table: copy}
write: {strategy: merge, key: [order_id], version_by: [order_date]}
""",
    "rates": """\
pipeline: rates
source:
  type: files
  path: landing/rates/*.csv
  format: csv
  schema: {currency: string, rate: "decimal(12,4)"}
target: {type: delta, table: rates}
write: {strategy: refresh}
expect:
  - rate > 0
  - unique: [currency]
""",
}
"""Some that stage, and `plain`, which publishes in a single pass, as does `classic`, by Delta's own writer; some that
write by key: `entities` writes its files anew, `merged` leaves that to MERGE, `feed` and `copy` go on from where the
last run ended."""
_LOADED = ("orders", "plain", "classic", "entities", "events")
_SQL = "SELECT order_id, amount, upper(status) AS status, order_date FROM source\n"


@dataclass(frozen=True, slots=True)
class Look:
    """A table, as it must be equal after a clean run and after a kill."""

    rows: list[Row]
    schema: str
    partitions: list[str]
    properties: Mapping[str, str]


class Project:
    """A project in a folder of its own, with a way to start commands in it."""

    refreshed: Sequence[str] = ("rates",)
    """The pipelines whose every run replaces the whole table."""

    def __init__(self, folder: Path, starter: Starter, spark: str, *, lease: str = "60s") -> None:
        self.folder = folder
        self._starter = starter
        self._settings = f"project: crash\nlease: {lease}\nspark: {{{spark}}}\n"

    def with_settings(self, starter: Starter, spark: str, *, lease: str) -> Project:
        """The same folder, worked in by other means."""
        other = self._like(starter, spark, lease)
        other.put("samewise.yaml", other._settings)
        return other

    def _like(self, starter: Starter, spark: str, lease: str) -> Project:
        return Project(self.folder, starter, spark, lease=lease)

    def pipelines(self) -> dict[str, str]:
        """The pipelines' files, by name."""
        return dict(_PIPELINES)

    def write(self) -> Project:
        """Make the project anew, with four days of orders and the rates of one day."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for name, text in self.pipelines().items():
            self.put(f"pipelines/{name}.yaml", text)
        self.put("pipelines/orders.sql", _SQL)
        self.put("samewise.yaml", self._settings)
        for day, orders in ORDERS.items():
            self.put_orders(day, orders)
        self.put_rates(RATES)
        return self

    def put(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def put_orders(self, day: str, orders: Iterable[Order]) -> None:
        lines = [f"{number},{amount},{status},{day}" for number, amount, status in orders]
        header = "order_id,amount,status,order_date"
        self.put(f"landing/orders/{day}/orders.csv", "\n".join([header, *lines, ""]))

    def put_rates(self, rates: Iterable[tuple[str, str]]) -> None:
        lines = [f"{currency},{rate}" for currency, rate in rates]
        self.put("landing/rates/rates.csv", "\n".join(["currency,rate", *lines, ""]))

    def put_state_at(self, url: str) -> None:
        """Use another state store from now on."""
        self.put("samewise.yaml", f"{self._settings}state: {url}\n")

    def save(self, place: Path) -> None:
        """Keep a copy of everything, times of files included."""
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder, place)

    def restore(self, place: Path) -> None:
        """Put a saved copy back in this project's own place."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(place, self.folder)

    def start(self, *arguments: str, failpoint: str = "") -> Command:
        """Start a command; `failpoint` is where it kills or stops itself."""
        return self._starter.start([*arguments, "--json"], self.folder, {"SAMEWISE_FAILPOINT": failpoint})

    def call(self, *arguments: str, failpoint: str = "") -> Ended:
        """Run a command to its end."""
        return self.start(*arguments, failpoint=failpoint).wait()

    @property
    def state_file(self) -> Path:
        return self.folder / ".samewise" / "state.db"

    def lose_state(self) -> None:
        """Delete the state store, as someone might who tidies up."""
        for file in self.state_file.parent.glob("state.db*"):
            file.unlink()

    def table_path(self, table: str) -> str:
        return str(self.folder / "warehouse" / table)

    def rows(self, table: str) -> list[Row]:
        """All rows, sorted; read without Spark, as any other reader would."""
        return rows_of(DeltaTable(self.table_path(table)))

    def exists(self, table: str) -> bool:
        return DeltaTable.is_deltatable(self.table_path(table))

    def look(self, table: str) -> Look:
        """Everything of a table that must be equal after a clean run and after a kill."""
        there = DeltaTable(self.table_path(table))
        return Look(
            rows=rows_of(there),
            schema=there.schema().to_json(),
            partitions=list(there.metadata().partition_columns),
            properties={
                # The store has another identity in each clean project; its place is the same.
                name: value
                for name, value in there.metadata().configuration.items()
                if name != "samewise.store"
            },
        )

    def commits(self, table: str) -> list[LogCommit]:
        """The table's log as it stands on disk, oldest first."""
        if not self.exists(table):
            return []
        logs = sorted(Path(self.table_path(table), "_delta_log").glob("*.json"))
        return [_commit(file) for file in logs]

    def landed(self, table: str, run_id: str) -> list[LogCommit]:
        """The commits that carry a run's rows."""
        return [
            commit
            for commit in self.commits(table)
            if commit.stamp is not None and commit.stamp.run_id == run_id and commit.stamp.kind == "data"
        ]

    def state(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Rows of the state store, read behind its back."""
        with closing(sqlite3.connect(self.state_file)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query, values)]

    def newest_run(self, pipeline: str) -> dict[str, Any]:
        """The run that was planned last."""
        query = "SELECT * FROM samewise_runs WHERE pipeline = ? ORDER BY planned_at DESC, generation DESC"
        return self.state(query, pipeline)[0]

    def left_staged(self) -> list[str]:
        """Whatever lies below the staging folder: files, and folders that nobody needs any more."""
        folder = self.folder / "warehouse" / "_samewise" / "staging"
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@dataclass(frozen=True, slots=True)
class Stage:
    """One project in one place, set back to a situation whenever a test asks for it.

    `new`: nothing is loaded. `loaded`: the orders of two days, and the rates. `changed`: loaded, and since
    then the second day and the rates have changed. `deleting`: changed in another way. `empty`: loaded, and since
    then both have become empty. `more`: loaded by those that write by key too, and since then a third day has come,
    which changes and deletes what the others brought.
    """

    project: Project
    server: SparkServer
    zygote: Zygote
    saved: Path
    clean: dict[tuple[str, ...], Sight] = field(default_factory=dict)

    @classmethod
    def build(cls, place: Path, server: SparkServer, zygote: Zygote, make: type[Project] = Project) -> Stage:
        project = make(place / "shop", zygote, f"remote: '{server.remote}'").write()
        stage = cls(project, server, zygote, place / "saved")
        project.save(stage.saved / "new")
        for pipeline in [name for name in _LOADED if name in project.pipelines()]:
            project.call("run", pipeline, "--from", DAYS[0], "--to", DAYS[2]).well()
        for pipeline in project.refreshed:
            project.call("run", pipeline).well()
        project.save(stage.saved / "loaded")
        project.put_orders(DAYS[1], CHANGED)
        project.put_rates(CHANGED_RATES)
        project.save(stage.saved / "changed")
        project.put_orders(DAYS[1], DELETING)
        project.save(stage.saved / "deleting")
        project.put_orders(DAYS[1], [])
        project.put_rates([])
        project.save(stage.saved / "empty")
        return stage

    def set_back(self, situation: str, *, lease: str = "60s") -> Project:
        """The project as it was then; nobody remembers what came after."""
        if situation == "more" and not (self.saved / "more").exists():
            self._bring_more()
        self.server.forget()
        self.project.restore(self.saved / situation)
        return self.project.with_settings(self.zygote, f"remote: '{self.server.remote}'", lease=lease)

    def _bring_more(self) -> None:
        """Made when it is first asked for: most tests, and PostgreSQL, can do without."""
        project = self.set_back("loaded")
        for day in DAYS[2:]:
            shutil.rmtree(project.folder / "landing" / "orders" / day)
        project.call("run", "merged", "--from", DAYS[0], "--to", DAYS[2]).well()
        project.call("run", "feed").well()
        project.call("run", "copy").well()
        # It has read up to today. What comes next is older, and would be passed over.
        project.call("watermark", "copy", "--set", f"{DAYS[2]}T00:00:00Z", "--reason", "a test").well()
        project.put_orders(DAYS[2], DELETING)
        project.call("run", "orders", "--window", DAYS[2]).well()
        project.save(self.saved / "more")

    def clean_run(self, situation: str, *command: str) -> Sight:
        """What one undisturbed run of a pipeline leaves: `run PIPELINE …`. Made once."""
        key = (situation, *command)
        if key not in self.clean:
            project = self.set_back(situation)
            assert project.call(*command).well().status == "succeeded"
            self.clean[key] = sight(project, command[1])
        return self.clean[key]


@dataclass(frozen=True, slots=True)
class LogCommit:
    """One commit of a Delta log: what it was, and what it says about who made it."""

    version: int
    operation: str
    stamp: Stamp | None

    @property
    def gist(self) -> tuple[object, ...]:
        """What two logs must have in common to be alike: no time, no random id."""
        if self.stamp is None:
            return self.version, self.operation
        stamp = self.stamp
        figures = json.dumps(stamp.measures, sort_keys=True)
        return (
            self.version,
            self.operation,
            stamp.kind,
            stamp.window.key,
            stamp.generation,
            stamp.definition,
            stamp.fingerprint,
            stamp.contract,
            figures,
            stamp.rows_read,
        )


@dataclass(frozen=True, slots=True)
class Sight:
    """Everything of a pipeline that must be equal after a clean run and after a kill and a second run."""

    rows: list[Row]
    schema: str
    partitions: list[str]
    properties: Mapping[str, str]
    log: list[tuple[object, ...]]
    runs: list[Row]
    receipts: list[Row]
    task: list[Row]
    moves: list[Row]
    contracts: list[Row]
    files: list[Row]

    def without_rows_read(self) -> Sight:
        """How many rows were read is measured while they are written: where the process dies then, nobody knows."""
        return replace(self, receipts=[receipt[:9] + receipt[10:] for receipt in self.receipts])


def sight(project: Project, pipeline: str) -> Sight:
    """Look at a pipeline whose table has its name."""
    table = project.look(pipeline)

    def kept(columns: str, name: str, order: str) -> list[Row]:
        query = f"SELECT {columns} FROM samewise_{name} WHERE pipeline = ? ORDER BY {order}"
        return [tuple(row.values()) for row in project.state(query, pipeline)]

    return Sight(
        rows=table.rows,
        schema=table.schema,
        partitions=table.partitions,
        properties=table.properties,
        log=[commit.gist for commit in project.commits(pipeline)],
        runs=kept(
            "task, window_key, generation, target, definition, source, inputs, contract, base_version, point, status,"
            " forced, error",
            "runs",
            "window_key, generation",
        ),
        receipts=kept(
            "task, window_key, generation, target, target_version, definition, fingerprint, contract, measures,"
            " rows_read, rows_staged, rows_deleted, rows_quarantined, recovered, epoch, wrote, rows_inserted,"
            " rows_updated, rows_unchanged",
            "receipts",
            "window_key, generation",
        ),
        task=kept("task, watermark, watermark_moves, contracts, epoch, era, era_definition", "tasks", "task"),
        moves=kept("task, number, value, reason", "watermark_moves", "task, number"),
        contracts=kept("task, number, contract_id, schema, reason", "contracts", "task, number"),
        files=kept("task, path, size_bytes", "files", "task, path"),
    )


def assert_nothing_is_left(project: Project, *, but_leases: bool = False) -> None:
    """No open run, no attempt that runs or has not tidied up, no lease, no staging.

    `but_leases`: whoever is killed when all is done but to let its lease go leaves it to the next one who wants it.
    """
    assert project.state("SELECT run_id FROM samewise_runs WHERE status = 'open'") == []
    assert project.state("SELECT attempt_id FROM samewise_attempts WHERE status = 'running'") == []
    assert (
        project.state("SELECT attempt_id FROM samewise_attempts WHERE staging IS NOT NULL AND NOT staging_dropped")
        == []
    )
    held = project.state("SELECT target, window_key FROM samewise_leases WHERE holder IS NOT NULL")
    assert but_leases or held == []
    assert project.left_staged() == []


def rows_of(table: DeltaTable) -> list[Row]:
    """All rows of a table as it was opened, sorted."""
    found = table.to_pyarrow_table().to_pylist()
    for row in found:
        if row.get(DELETED_AT) is not None:
            row[DELETED_AT] = "some time"  # That of the run, which is another one in each.
    return sorted((tuple(row.values()) for row in found), key=repr)


def order_rows(orders: Mapping[str, Sequence[Order]], *, upper: bool = True) -> list[Row]:
    """What the pipelines `orders` and `plain` should make of these files."""
    rows: list[Row] = [
        (number, Decimal(amount), status.upper() if upper else status, date.fromisoformat(day))
        for day, of_day in orders.items()
        for number, amount, status in of_day
    ]
    return sorted(rows, key=repr)


def rate_rows(rates: Sequence[tuple[str, str]]) -> list[Row]:
    """What the pipeline `rates` should make of this file."""
    return sorted(((currency, Decimal(rate)) for currency, rate in rates), key=repr)


def _commit(file: Path) -> LogCommit:
    for line in file.read_text(encoding="utf-8").splitlines():
        info = json.loads(line).get("commitInfo")
        if info is not None:
            return LogCommit(int(file.stem), info["operation"], Stamp.parse(info.get("userMetadata")))
    raise AssertionError(f"{file} does not say what it is")
