"""What every source must do, over every source there is."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import samewise.sources
from samewise.core.connections import PostgresConnection
from samewise.core.errors import PinsGone, Refused
from samewise.core.measures import Measures, measure_expressions, read_measures
from samewise.core.ports import Source
from samewise.core.records import Pins
from samewise.core.schema import Column, Schema
from samewise.core.shapes import Taken
from samewise.core.sql import Span, literal, quote
from samewise.core.windows import Window
from samewise.plan.policy import Policy
from samewise.plan.verdict import decide
from samewise.sources.delta import DeltaSource
from samewise.sources.files import FilesSource
from samewise.sources.postgres import Asked, PostgresSource, Split, Ways
from samewise.storage.frames import schema_of
from tests.support.postgres import PostgresServer
from tests.support.spark import NoSpark, ReadySpark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAY = Window(datetime(2026, 4, 25, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC))
NEXT_DAY = Window(datetime(2026, 4, 26, tzinfo=UTC), datetime(2026, 4, 27, tzinfo=UTC))
DECLARED = Schema.of(
    [("order_id", "bigint"), ("amount", "decimal(12,2)"), ("status", "string"), ("order_date", "date")]
)
ROWS = [(1, "10.50", "new", "2026-04-25"), (2, "0.25", "paid", "2026-04-25"), (3, "7.00", None, "2026-04-25")]
MORE = [(4, "1.00", "late", "2026-04-25")]

TextRow = tuple[int, str, str | None, str]


@dataclass
class Rig:
    """A source and the hands that prepare what it reads."""

    source: Source
    without_spark: Source
    """The same source, for which asking for Spark is an error."""
    add: Callable[[Sequence[TextRow]], None]
    change: Callable[[], None]
    rename_column: Callable[[], None] | None
    nothing: Source
    """A source of the same kind that points at nothing."""
    spark: SparkSession
    pins_rows: bool = True
    """False where a source keeps no old versions: what is fixed is the snapshot in which an attempt reads."""

    def measured(self, pins: Pins, window: Window = DAY) -> Measures:
        return measured(self.source.read(pins, window))


def measured(rows: DataFrame) -> Measures:
    expressions = measure_expressions(schema_of(rows))
    found = rows.selectExpr(*[f"{sql} AS {quote(name)}" for name, sql in expressions.items()]).first()
    assert found is not None
    measures = read_measures(found.asDict())
    assert measures is not None
    return measures


def frame(spark: SparkSession, rows: Sequence[TextRow]) -> DataFrame:
    values = ", ".join(
        "(" + ", ".join("NULL" if value is None else literal(str(value)) for value in row) + ")" for row in rows
    )
    casts = ", ".join(f"CAST({column.name} AS {column.type}) AS {column.name}" for column in DECLARED)
    return spark.sql(f"SELECT {casts} FROM VALUES {values} AS t({', '.join(DECLARED.names)})").coalesce(1)


def text_rows(format: str, rows: Sequence[TextRow]) -> str:
    if format == "csv":
        lines = [",".join("" if value is None else str(value) for value in row) for row in rows]
        return "\n".join([",".join(DECLARED.names), *lines]) + "\n"
    return "".join(json.dumps(dict(zip(DECLARED.names, row, strict=True))) + "\n" for row in rows)


class Prepared:
    """Files and tables that Spark wrote once, to be copied by every test that begins with the same rows."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._made: dict[object, Path] = {}

    def written(self, format: str, rows: Sequence[TextRow], columns: Sequence[str] = DECLARED.names) -> Path:
        key = (format, *rows, *columns)
        if key not in self._made:
            self._made[key] = self._folder / str(len(self._made))
            frame(self._spark, rows).toDF(*columns).write.format(format).save(str(self._made[key]))
        return self._made[key]


@pytest.fixture(scope="module")
def prepared(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return Prepared(spark, tmp_path_factory.mktemp("prepared"))


def files_rig(format: str, spark: SparkSession, folder: Path, prepared: Prepared) -> Rig:
    def one_file(rows: Sequence[TextRow], columns: Sequence[str] = DECLARED.names) -> None:
        name = folder / f"part-{len(list(folder.iterdir()))}.{format}"
        if format in ("csv", "json"):
            name.write_text(text_rows(format, rows).replace("amount", columns[1]))
        else:
            shutil.copy(next(prepared.written(format, rows, columns).glob(f"*.{format}")), name)

    def change() -> None:
        first = folder / f"part-0.{format}"
        first.write_bytes(first.read_bytes() + b"\n")

    def rename_column() -> None:
        one_file(MORE, ["order_id", "betrag", "status", "order_date"])

    def source(glob: str, provider: ReadySpark | NoSpark) -> FilesSource:
        return FilesSource(lambda _: glob, format, provider, declared=DECLARED)

    one_file(ROWS)
    glob = f"{folder}/*.{format}"
    return Rig(
        source(glob, ReadySpark(spark)),
        source(glob, NoSpark()),
        one_file,
        change,
        None if format == "json" else rename_column,
        source(f"{folder}/nothing/*", ReadySpark(spark)),
        spark,
    )


def by_day(schema: Schema, window: Window) -> Span:
    assert schema.get("order_date") is not None
    return Span("order_date", window.start.date(), window.end.date())


def delta_rig(spark: SparkSession, folder: Path, prepared: Prepared) -> Rig:
    path = f"{folder}/a table"

    def add(rows: Sequence[TextRow]) -> None:
        frame(spark, rows).write.format("delta").mode("append").save(path)

    def change() -> None:
        # A table made again in the same place: what was pinned is gone, though there is a version 0 again.
        shutil.rmtree(path)
        shutil.copytree(prepared.written("delta", MORE), path)

    shutil.copytree(prepared.written("delta", ROWS), path)
    provider = ReadySpark(spark)
    return Rig(
        DeltaSource(path, None, provider, span=by_day),
        DeltaSource(path, None, NoSpark(), span=by_day),
        add,
        change,
        None,
        DeltaSource(f"{folder}/nothing", None, provider, span=by_day),
        spark,
    )


def postgres_rig(server: PostgresServer, spark: SparkSession, folder: Path, prepared: Prepared) -> Rig:
    schema = server.new_schema()
    table = f'{schema}."an order"'
    made = f"CREATE TABLE {table} (order_id bigint, amount numeric(12,2), status text, order_date date)"

    def execute(statement: str, values: Sequence[TextRow] = ()) -> None:
        with server.connect() as connection:
            if values:
                connection.cursor().executemany(statement, values)
            else:
                connection.execute(statement)

    def add(rows: Sequence[TextRow]) -> None:
        execute(f"INSERT INTO {table} VALUES (%s, %s, %s, %s)", rows)

    def change() -> None:
        # A table made again under the same name.
        execute(f"DROP TABLE {table}; {made}")
        add(MORE)

    def source(name: str, provider: ReadySpark | NoSpark) -> PostgresSource:
        place = PostgresConnection("shop", f"postgresql://postgres@127.0.0.1:{server.port}/postgres")
        counted = 'SELECT count(*), max(order_id) FROM "an order"'
        ways = Ways(span=by_day, fingerprint=counted, split=Split(readers=3))
        return PostgresSource(place, Asked(schema, (schema, name)), provider, ways)

    execute(made)
    add(ROWS)
    provider = ReadySpark(spark)
    return Rig(
        source("an order", provider),
        source("an order", NoSpark()),
        add,
        change,
        None,
        source("nothing", provider),
        spark,
        pins_rows=False,
    )


RIGS: dict[str, tuple[type, Callable[..., Rig]]] = {
    **{f"files-{format}": (FilesSource, partial(files_rig, format)) for format in ("csv", "json", "parquet", "orc")},
    "delta": (DeltaSource, delta_rig),
    "postgres": (PostgresSource, postgres_rig),
}


@pytest.fixture(params=list(RIGS))
def rig(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path, prepared: Prepared) -> Rig:
    """A source of each kind, with three rows to read."""
    folder = tmp_path / "data"
    folder.mkdir()
    make = RIGS[request.param][1]
    if request.param == "postgres":
        make = partial(make, request.getfixturevalue("postgres_server"))
    return make(spark, folder, prepared)


def test_every_source_has_a_rig() -> None:
    sources = {
        kind
        for module in pkgutil.iter_modules(samewise.sources.__path__)
        for name, kind in inspect.getmembers(importlib.import_module(f"samewise.sources.{module.name}"))
        if inspect.isclass(kind) and name.endswith("Source") and kind.__module__.startswith("samewise.sources")
    }
    assert sources == {kind for kind, _ in RIGS.values()}


def test_pinning_twice_gives_the_same_pins(rig: Rig) -> None:
    assert rig.source.pin(DAY) == rig.source.pin(DAY)


def test_pins_survive_the_state_store(rig: Rig) -> None:
    pins = rig.source.pin(DAY)
    assert Pins.from_json(json.loads(json.dumps(pins.to_json()))) == pins


def test_pinning_and_checking_need_no_spark(rig: Rig) -> None:
    rig.without_spark.check(rig.without_spark.pin(DAY))


def test_the_rows_are_those_that_were_put_there(rig: Rig) -> None:
    assert rig.measured(rig.source.pin(DAY)) == measured(frame(rig.spark, ROWS))


def test_reading_pins_twice_gives_the_same_rows(rig: Rig) -> None:
    pins = rig.source.pin(DAY)
    assert rig.measured(pins) == rig.measured(pins)


def test_what_is_added_after_the_pin_is_not_read(rig: Rig) -> None:
    pins = rig.source.pin(DAY)
    if rig.pins_rows:
        rig.add(MORE)
        assert rig.measured(pins).rows == 3
    else:
        rows = rig.source.read(pins, DAY)
        rig.add(MORE)
        assert measured(rows).rows == 3


def test_what_was_read_is_let_go_of_more_than_once(rig: Rig) -> None:
    pins = rig.source.pin(DAY)
    rig.source.release(pins)
    rig.measured(pins)
    rig.source.release(pins)
    rig.source.release(pins)
    assert rig.measured(pins).rows == 3


def test_what_is_added_before_the_pin_is_read(rig: Rig) -> None:
    rig.add(MORE)
    assert rig.measured(rig.source.pin(DAY)).rows == 4


def test_what_is_added_makes_another_fingerprint(rig: Rig) -> None:
    before = rig.source.pin(DAY)
    rig.add(MORE)
    assert rig.source.pin(DAY).fingerprint != before.fingerprint


def test_pins_that_still_stand_pass_the_check(rig: Rig) -> None:
    pins = rig.source.pin(DAY)
    rig.add(MORE)
    rig.source.check(pins)


def test_what_was_changed_after_the_pin_is_gone(rig: Rig) -> None:
    pins = rig.source.pin(DAY)
    rig.change()
    with pytest.raises(PinsGone):
        rig.source.check(pins)


def test_a_source_of_nothing_is_refused(rig: Rig) -> None:
    with pytest.raises(Refused) as caught:
        rig.nothing.pin(DAY)
    assert caught.value.code in ("no_files", "no_table")


def test_the_shape_is_the_declared_one(rig: Rig) -> None:
    (shape,) = rig.source.shapes(rig.source.pin(DAY))
    assert [(c.name, c.type) for c in shape.columns] == [(c.name, c.type) for c in DECLARED]


def test_the_rows_have_the_schema_that_was_told(rig: Rig) -> None:
    pins = rig.source.pin(DAY)
    (told,), read = rig.source.shapes(pins), schema_of(rig.source.read(pins, DAY))
    assert [(c.name, c.type) for c in told.columns] == [(c.name, c.type) for c in read]


def test_a_renamed_column_is_told_with_its_file(rig: Rig) -> None:
    if rig.rename_column is None:
        return  # JSON has no header; a Delta table's schema is its own and pinned with the version.
    rig.rename_column()
    _, other = rig.source.shapes(rig.source.pin(DAY))
    assert [Path(place).stem for place in other.places] == ["part-1"]
    assert other.columns.names == ("order_id", "betrag", "status", "order_date")


def test_rows_are_fitted_to_other_columns(rig: Rig) -> None:
    (shape,) = rig.source.shapes(rig.source.pin(DAY))
    fit = (
        Taken(Column("note", "string"), None),
        Taken(Column("state", "string"), shape.columns.get("status")),
        Taken(Column("order_id", "bigint"), shape.columns.get("order_id")),
    )
    rows = rig.source.read(rig.source.pin(DAY), DAY, [fit])
    assert rows.columns == ["note", "state", "order_id"]
    assert {tuple(row) for row in rows.collect()} == {(None, None, 3), (None, "new", 1), (None, "paid", 2)}


def test_a_failure_that_is_not_the_sources_is_not_explained(rig: Rig) -> None:
    assert rig.source.explain_failure(RuntimeError("something else"), rig.source.pin(DAY)) is None


def test_a_failure_over_pins_that_are_gone_says_so(rig: Rig) -> None:
    pins = rig.source.pin(DAY)
    rig.change()
    assert isinstance(rig.source.explain_failure(RuntimeError("x"), pins), PinsGone)


# Files alone.


@pytest.fixture
def landing(tmp_path: Path) -> Path:
    return tmp_path


def csv(spark: SparkSession, landing: Path, **settings: object) -> FilesSource:
    settings.setdefault("declared", Schema.of([("a", "int"), ("b", "int"), ("c", "string")]))
    return FilesSource(lambda _: f"{landing}/**/*.csv", "csv", ReadySpark(spark), **settings)  # type: ignore[arg-type]


def rows_of(source: FilesSource, *columns: str) -> list[tuple[object, ...]]:
    pins = source.pin(DAY)
    rows = source.read(pins, DAY)
    return sorted(tuple(row) for row in (rows.select(*columns) if columns else rows).collect())


STRANGE = [
    "a b",
    "x=1",
    "s*r",
    "[q]",
    "[a-z]",
    "ü",
    "h#",
    "p%20q",
    "br{a,b}",
    "qm?",
    "back\\slash",
    "+",
    "'\"",
    "&;",
]


def test_a_file_name_is_read_literally(spark: SparkSession, landing: Path) -> None:
    for number, name in enumerate(STRANGE):
        (landing / f"{name}.csv").write_text(f"a,b,c\n{number},0,{name[0]}\n")
    assert [row[0] for row in rows_of(csv(spark, landing))] == list(range(len(STRANGE)))


def test_a_strange_name_does_not_read_its_neighbours(spark: SparkSession, landing: Path) -> None:
    (landing / "s*r.csv").write_text("a,b,c\n1,0,x\n")
    source = csv(spark, landing)
    pins = source.pin(DAY)
    (landing / "star.csv").write_text("a,b,c\n2,0,x\n")
    assert [row["a"] for row in source.read(pins, DAY).collect()] == [1]


def test_a_colon_in_a_file_name_is_refused(spark: SparkSession, landing: Path) -> None:
    (landing / "10:00.csv").write_text("a,b,c\n1,0,x\n")
    with pytest.raises(Refused, match="colon"):
        csv(spark, landing).pin(DAY)


BAD = "a,b,c\n1,2,x\n1,zz,y\n"


@pytest.mark.parametrize("columns", [("a",), ("a", "b", "c"), ()])
def test_a_malformed_value_fails_the_job_whatever_is_selected(
    spark: SparkSession, landing: Path, columns: tuple[str, ...]
) -> None:
    (landing / "a.csv").write_text(BAD)
    with pytest.raises(Exception, match=r"FAILED_READ_FILE|MALFORMED"):
        rows_of(csv(spark, landing), *columns)


def test_a_malformed_value_fails_a_count(spark: SparkSession, landing: Path) -> None:
    (landing / "a.csv").write_text(BAD)
    source = csv(spark, landing)
    with pytest.raises(Exception, match=r"FAILED_READ_FILE|MALFORMED"):
        source.read(source.pin(DAY), DAY).count()


def test_a_malformed_json_value_fails_the_job_though_it_is_not_selected(spark: SparkSession, landing: Path) -> None:
    (landing / "a.json").write_text('{"a": 1, "b": 2}\n{"a": 1, "b": "zz"}\n')
    declared = Schema.of([("a", "int"), ("b", "int")])
    source = FilesSource(lambda _: f"{landing}/*.json", "json", ReadySpark(spark), declared=declared)
    with pytest.raises(Exception, match=r"FAILED_READ_FILE|MALFORMED"):
        source.read(source.pin(DAY), DAY).select("a").collect()


def test_a_failed_write_is_explained_by_its_malformed_rows(spark: SparkSession, landing: Path) -> None:
    (landing / "a b.csv").write_text(BAD + "1,2\n" + "3,4,y,z\n" + f"5,x,{'long' * 50}\n")
    source = csv(spark, landing)
    pins = source.pin(DAY)
    with pytest.raises(Exception) as failed:  # noqa: PT011
        source.read(pins, DAY).write.format("delta").save(f"{landing}/out")
    explained = source.explain_failure(failed.value, pins)
    assert explained is not None
    lines = explained.message.splitlines()
    assert (explained.code, lines[:2], lines[-1], max(map(len, lines)) <= 82) == (
        "malformed",
        ["4 rows are malformed", "  a b.csv: 1,zz,y"],
        "  … and 1 more",
        True,
    )


def test_a_malformed_row_goes_to_the_quarantine(spark: SparkSession, landing: Path) -> None:
    (landing / "a.csv").write_text(BAD)
    source = csv(spark, landing, on_malformed="quarantine")
    bad = source.malformed(source.pin(DAY))
    assert bad is not None
    assert [(row["file"].rpartition("/")[2], row["line"]) for row in bad.collect()] == [("a.csv", "1,zz,y")]


@pytest.mark.parametrize("columns", [("a",), ()])
def test_the_quarantine_leaves_the_good_rows(spark: SparkSession, landing: Path, columns: tuple[str, ...]) -> None:
    (landing / "a.csv").write_text(BAD)
    assert len(rows_of(csv(spark, landing, on_malformed="quarantine"), *columns)) == 1


def test_good_rows_can_be_counted_beside_a_quarantine(spark: SparkSession, landing: Path) -> None:
    (landing / "a.csv").write_text(BAD)
    source = csv(spark, landing, on_malformed="quarantine")
    assert source.read(source.pin(DAY), DAY).count() == 1


def test_where_rows_are_refused_there_is_no_quarantine(spark: SparkSession, landing: Path) -> None:
    (landing / "a.csv").write_text(BAD)
    source = csv(spark, landing)
    assert source.malformed(source.pin(DAY)) is None


@pytest.mark.parametrize("header", ["a,b", "a,b,c,d", "a,c,b", "a,b,sea", "a,b,b", "a,b,"])
def test_the_header_of_every_file_is_told(spark: SparkSession, landing: Path, header: str) -> None:
    (landing / "1.csv").write_text("a,b,c\n")
    (landing / "2.csv").write_text(header + "\n")
    (landing / "3.csv").write_text("a,b,c\n")
    source = csv(spark, landing)
    same, other = source.shapes(source.pin(DAY))
    assert [[Path(place).name for place in shape.places] for shape in (same, other)] == [["1.csv", "3.csv"], ["2.csv"]]
    assert (list(other.columns.names), other.is_header) == (header.split(","), True)


def test_a_column_that_is_not_declared_is_text(spark: SparkSession, landing: Path) -> None:
    (landing / "a.csv").write_text("b,x,alpha\n")
    source = csv(spark, landing, renames={"a": "alpha"})
    (shape,) = source.shapes(source.pin(DAY))
    assert [(c.name, c.type) for c in shape.columns] == [("b", "int"), ("x", "string"), ("alpha", "int")]


def test_files_with_different_headers_are_each_read_by_their_own(spark: SparkSession, landing: Path) -> None:
    (landing / "1.csv").write_text("a,b,c\n1,2,x\n")
    (landing / "2.csv").write_text("c,,a,b,b2\ny,junk,3,4,5\n")
    (landing / "3.csv").write_text("alpha,c\n5,z\n")
    source = csv(spark, landing, renames={"a": "alpha"})
    pins = source.pin(DAY)
    shapes = source.shapes(pins)
    verdict = decide(
        Schema.of([("a", "int"), ("b", "int"), ("c", "string")]),
        shapes,
        Policy(added="ignore", removed="ignore", order="ignore", rename={"a": "alpha"}),
    )
    rows = source.read(pins, DAY, verdict.fits).collect()
    assert sorted(tuple(row) for row in rows) == [(1, 2, "x"), (3, 4, "y"), (5, None, "z")]


def test_a_malformed_row_is_found_by_its_own_files_header(spark: SparkSession, landing: Path) -> None:
    (landing / "1.csv").write_text("a,b,c\n1,2,x\n1,zz,y\n")
    (landing / "2.csv").write_text("c,a,b\nx,1,2\ny,1,zz\n")
    source = csv(spark, landing, on_malformed="quarantine")
    pins = source.pin(DAY)
    verdict = decide(source.shapes(pins)[0].columns, source.shapes(pins), Policy(order="ignore"))
    bad = source.malformed(pins)
    assert bad is not None
    assert sorted(row["line"] for row in bad.collect()) == ["1,zz,y", "y,1,zz"]
    assert [tuple(row) for row in source.read(pins, DAY, verdict.fits).collect()] == [(1, 2, "x")] * 2


def test_the_case_of_a_header_does_not_matter(spark: SparkSession, landing: Path) -> None:
    (landing / "a.csv").write_text("A,B,C\n1,2,x\n")
    assert rows_of(csv(spark, landing)) == [(1, 2, "x")]


@pytest.mark.parametrize("text", ["", "a,b,c\n", "\n\n"])
def test_an_empty_file_has_no_rows(spark: SparkSession, landing: Path, text: str) -> None:
    (landing / "a.csv").write_text(text)
    assert rows_of(csv(spark, landing)) == []


def test_files_without_a_header_are_read_by_position(spark: SparkSession, landing: Path) -> None:
    (landing / "a.csv").write_text("1;2;x\n")
    assert rows_of(csv(spark, landing, header=False, delimiter=";")) == [(1, 2, "x")]


def test_a_byte_order_mark_is_not_part_of_a_name(spark: SparkSession, landing: Path) -> None:
    (landing / "a.csv").write_bytes(b"\xef\xbb\xbfa,b,c\n1,2,x\n")
    assert rows_of(csv(spark, landing)) == [(1, 2, "x")]


def test_a_folder_adds_no_column_that_is_not_declared(spark: SparkSession, landing: Path) -> None:
    (landing / "d=7").mkdir()
    (landing / "d=7" / "a.csv").write_text("a,b,c\n1,2,x\n")
    assert rows_of(csv(spark, landing)) == [(1, 2, "x")]


def test_a_declared_column_is_read_from_the_folder_that_names_it(spark: SparkSession, landing: Path) -> None:
    for day in ("2026-04-25", "2026-04-26"):
        (landing / f"order_date={day}" / "hour=1").mkdir(parents=True)
        (landing / f"order_date={day}" / "hour=1" / "a.csv").write_text("a,b\n1,2\n")
    declared = Schema.of([("a", "int"), ("order_date", "date"), ("b", "int")])
    assert rows_of(csv(spark, landing, declared=declared)) == [
        (1, date(2026, 4, 25), 2),
        (1, date(2026, 4, 26), 2),
    ]


def test_a_column_of_the_file_is_not_replaced_by_that_of_the_folder(spark: SparkSession, landing: Path) -> None:
    (landing / "a=9").mkdir()
    (landing / "a=9" / "a.csv").write_text("a,b,c\n1,2,x\n")
    assert rows_of(csv(spark, landing)) == [(1, 2, "x")]


def test_files_in_folders_of_different_kinds_are_refused(spark: SparkSession, landing: Path) -> None:
    (landing / "c=9").mkdir()
    (landing / "c=9" / "a.csv").write_text("a,b\n1,2\n")
    (landing / "a.csv").write_text("a,b\n1,2\n")
    source = csv(spark, landing)
    with pytest.raises(Refused) as caught:
        source.shapes(source.pin(DAY))
    assert caught.value.code == "schema"


@pytest.mark.parametrize("format", ["parquet", "orc"])
@pytest.mark.parametrize("part", [0.0, 0.01, 0.5])
def test_a_damaged_file_is_refused_by_name(
    spark: SparkSession, landing: Path, prepared: Prepared, format: str, part: float
) -> None:
    [whole] = [path.read_bytes() for path in prepared.written(format, ROWS).glob(f"*.{format}")]
    (landing / f"damaged.{format}").write_bytes(whole[: int(len(whole) * part)])
    source = FilesSource(lambda _: f"{landing}/*.{format}", format, ReadySpark(spark))
    with pytest.raises(Refused, match=f"damaged.{format}") as caught:
        source.shapes(source.pin(DAY))
    assert caught.value.code == "unreadable"


SHAPES = ["id, 'x' AS name", "id, 'x' AS title", "INT(id) AS id, 'x' AS name", "'x' AS name, id"]


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_the_footer_of_every_file_is_told(spark: SparkSession, landing: Path, format: str) -> None:
    for number, columns in enumerate([*SHAPES, SHAPES[0]]):
        spark.sql(f"SELECT {columns} FROM range(1)").coalesce(1).write.format(format).save(f"{landing}/{number}")
    source = FilesSource(lambda _: f"{landing}/*/*.{format}", format, ReadySpark(spark))
    shapes = source.shapes(source.pin(DAY))
    assert [[Path(place).parent.name for place in shape.places] for shape in shapes] == [
        ["0", "4"],
        ["1"],
        ["2"],
        ["3"],
    ]
    assert [[(c.name, c.type) for c in shape.columns] for shape in shapes] == [
        [("id", "bigint"), ("name", "string")],
        [("id", "bigint"), ("title", "string")],
        [("id", "int"), ("name", "string")],
        [("name", "string"), ("id", "bigint")],
    ]


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_files_with_different_footers_are_each_read_by_their_own(
    spark: SparkSession, landing: Path, format: str
) -> None:
    for number, columns in enumerate(SHAPES):
        rows = spark.sql(f"SELECT {columns} FROM range({number}, {number + 1})")
        rows.coalesce(1).write.format(format).save(f"{landing}/{number}")
    source = FilesSource(lambda _: f"{landing}/*/*.{format}", format, ReadySpark(spark))
    pins = source.pin(DAY)
    contract = Schema.of([("id", "bigint"), ("name", "string")])
    verdict = decide(contract, source.shapes(pins), Policy(type="ignore", rename={"name": "title"}))
    rows = source.read(pins, DAY, verdict.fits)
    assert [(c.name, c.type) for c in schema_of(rows)] == [("id", "bigint"), ("name", "string")]
    assert sorted(tuple(row) for row in rows.collect()) == [(number, "x") for number in range(4)]


def test_a_struct_with_names_that_sql_does_not_take_is_read(spark: SparkSession, landing: Path) -> None:
    spark.sql("SELECT 1 AS id, named_struct('a b', 1, 'c:d', 'x') AS s").write.parquet(f"{landing}/w")
    source = FilesSource(lambda _: f"{landing}/w/*.parquet", "parquet", ReadySpark(spark))
    (row,) = source.read(source.pin(DAY), DAY).collect()
    assert (row["id"], tuple(row["s"])) == (1, (1, "x"))


def test_a_declared_parquet_column_is_read_from_the_folder_that_names_it(spark: SparkSession, landing: Path) -> None:
    spark.range(1).coalesce(1).write.parquet(f"{landing}/day=2026-04-25")
    declared = Schema.of([("day", "date"), ("id", "bigint")])
    source = FilesSource(lambda _: f"{landing}/*/*.parquet", "parquet", ReadySpark(spark), declared=declared)
    assert rows_of(source) == [(date(2026, 4, 25), 0)]


FITTING = [
    ("bigint", "int", "1", "3000000000"),
    ("decimal(12,4)", "decimal(12,2)", "1.5000", "1.2345"),
    ("double", "int", "2.0", "2.5"),
    ("timestamp", "date", "2026-04-25 00:00:00", "2026-04-25 10:00:00"),
    ("string", "int", "12", "twelve"),
    ("string", "decimal(12,2)", "1.5", "1.239"),
    ("string", "date", "2026-04-25", "2026-04-25 10:00:00"),
    ("bigint", "double", "1", "9007199254740993"),
    ("int", "boolean", "1", "2"),
]


@pytest.mark.parametrize(("found", "accepted", "good", "bad"), FITTING)
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_value_that_a_cast_would_change_fails_the_job_and_is_told(
    spark: SparkSession, landing: Path, found: str, accepted: str, good: str, bad: str, ansi: str
) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.sql(f"SELECT CAST({literal(good)} AS {found}) AS v, 1 AS w").write.parquet(f"{landing}/good")
    spark.sql(f"SELECT CAST(NULL AS {found}) AS v, 1 AS w").write.parquet(f"{landing}/null")
    spark.sql(f"SELECT CAST({literal(bad)} AS {found}) AS v, 1 AS w").write.parquet(f"{landing}/bad")
    contract = Schema.of([("v", accepted), ("w", "int")])

    def read(glob: str) -> tuple[FilesSource, Pins, DataFrame]:
        source = FilesSource(lambda _: f"{landing}/{glob}/*.parquet", "parquet", ReadySpark(spark))
        pins = source.pin(DAY)
        fits = decide(contract, source.shapes(pins), Policy(type="ignore")).fits
        return source, pins, source.read(pins, DAY, fits)

    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        values = [row["v"] for row in read("[gn]*")[2].selectExpr("CAST(v AS STRING) AS v").collect()]
        wanted = spark.sql(f"SELECT CAST(CAST(CAST({literal(good)} AS {found}) AS {accepted}) AS STRING)").first()
        assert wanted is not None
        assert sorted(values, key=repr) == sorted([None, wanted[0]], key=repr)
        source, pins, rows = read("*")
        with pytest.raises(Exception) as failed:  # noqa: PT011
            rows.select("w").collect()
        explained = source.explain_failure(failed.value, pins)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before or "true")
    assert isinstance(explained, Refused)
    assert (explained.code, accepted in explained.message) == ("drift", True)


def test_a_manifest_among_the_files_is_not_read_as_one(spark: SparkSession, landing: Path) -> None:
    (landing / "a.json").write_text('{"a": 1}\n')
    (landing / "manifest.json").write_text('{"rows": 1}')
    source = FilesSource(
        lambda _: f"{landing}/*.json",
        "json",
        ReadySpark(spark),
        declared=Schema.of([("a", "int")]),
        manifest=lambda _: f"{landing}/manifest.json",
    )
    assert rows_of(source) == [(1,)]


def test_another_manifest_is_another_fingerprint(spark: SparkSession, landing: Path) -> None:
    (landing / "a.csv").write_text("a,b,c\n")
    source = csv(spark, landing, manifest=lambda _: f"{landing}/m.json")
    (landing / "m.json").write_text('{"rows": 0}')
    before = source.pin(DAY)
    (landing / "m.json").write_text('{"rows": 1}')
    assert (before.details["manifest"]["rows"], source.pin(DAY).fingerprint != before.fingerprint) == (
        0,
        True,
    )


def test_a_missing_manifest_is_refused(spark: SparkSession, landing: Path) -> None:
    (landing / "a.csv").write_text("a,b,c\n")
    with pytest.raises(Refused) as caught:
        csv(spark, landing, manifest=lambda _: f"{landing}/m.json").pin(DAY)
    assert caught.value.code == "no_manifest"


def test_a_wrong_checksum_is_refused_before_a_row_is_read(spark: SparkSession, landing: Path) -> None:
    (landing / "a.csv").write_text("a,b,c\n")
    (landing / "m.json").write_text(json.dumps({"files": {"a.csv": {"sha256": "0" * 64}}}))
    source = csv(spark, landing, manifest=lambda _: f"{landing}/m.json")
    with pytest.raises(Refused) as caught:
        source.shapes(source.pin(DAY))
    assert caught.value.code == "manifest_mismatch"


# Delta alone.


@pytest.fixture(scope="module")
def two_days(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("two_days") / "t"
    rows = frame(spark, [*ROWS, (9, "1.00", "x", "2026-04-26")])
    rows.write.format("delta").partitionBy("order_date").save(str(path))
    return path


@pytest.fixture
def table(two_days: Path, tmp_path: Path) -> str:
    path = f"{tmp_path}/t"
    shutil.copytree(two_days, path)
    return path


def test_a_window_reads_its_own_rows(spark: SparkSession, table: str) -> None:
    source = DeltaSource(table, None, ReadySpark(spark), span=by_day)
    assert source.read(source.pin(DAY), DAY).count() == 3


def test_a_commit_to_another_day_leaves_the_fingerprint(spark: SparkSession, table: str) -> None:
    source = DeltaSource(table, None, ReadySpark(spark), span=by_day)
    before = source.pin(DAY), source.pin(NEXT_DAY)
    spark.sql(f"DELETE FROM delta.`{table}` WHERE order_date = '2026-04-26'")
    after = source.pin(DAY), source.pin(NEXT_DAY)
    same = [a.fingerprint == b.fingerprint for a, b in zip(before, after, strict=True)]
    assert same == [True, False]


def test_a_version_whose_files_were_removed_is_gone(spark: SparkSession, table: str) -> None:
    source = DeltaSource(table, None, ReadySpark(spark), span=by_day)
    pins = source.pin(DAY)
    spark.sql(f"DELETE FROM delta.`{table}` WHERE order_date = '2026-04-25'")
    for removed in Path(table, "order_date=2026-04-25").glob("*.parquet"):
        removed.unlink()
    with pytest.raises(PinsGone, match="was removed"):
        source.check(pins)


def test_a_file_that_vanished_under_the_read_is_gone(spark: SparkSession, table: str) -> None:
    source = DeltaSource(table, None, ReadySpark(spark), span=by_day)
    pins = source.pin(DAY)
    rows = source.read(pins, DAY)
    for removed in Path(table, "order_date=2026-04-25").glob("*.parquet"):
        removed.unlink()
    with pytest.raises(Exception) as failed:  # noqa: PT011
        rows.collect()
    assert isinstance(source.explain_failure(failed.value, pins), PinsGone)


def test_the_schema_is_that_of_the_pinned_version(spark: SparkSession, table: str) -> None:
    source = DeltaSource(table, None, ReadySpark(spark))
    pins = source.pin(DAY)
    spark.sql(f"ALTER TABLE delta.`{table}` ADD COLUMN extra STRING")
    assert source.shapes(pins)[0].columns.get("extra") is None


def test_a_table_in_a_strange_folder_is_read(spark: SparkSession, tmp_path: Path, prepared: Prepared) -> None:
    path = f"{tmp_path}/a b%20[c]"
    shutil.copytree(prepared.written("delta", ROWS), path)
    source = DeltaSource(path, None, ReadySpark(spark))
    assert source.read(source.pin(DAY), DAY).count() == 3


@pytest.fixture
def named(spark: SparkSession, table: str) -> DeltaSource:
    """The same table, by a name of the catalog."""
    name = f"t_{time.time_ns()}"
    spark.sql(f"CREATE TABLE {name} USING DELTA LOCATION '{table}'")
    return DeltaSource(None, ["default", name], ReadySpark(spark), span=by_day)


def test_a_table_of_the_catalog_is_read_at_the_pinned_version(
    spark: SparkSession, table: str, named: DeltaSource
) -> None:
    pins = named.pin(DAY)
    spark.sql(f"DELETE FROM delta.`{table}` WHERE order_id = 1")
    named.check(pins)
    assert named.read(pins, DAY).count() == 3


def test_a_table_of_the_catalog_that_was_made_again_is_gone(table: str, named: DeltaSource, prepared: Prepared) -> None:
    pins = named.pin(DAY)
    shutil.rmtree(table)
    shutil.copytree(prepared.written("delta", ROWS), table)
    with pytest.raises(PinsGone):
        named.check(pins)


def test_a_name_that_the_catalog_does_not_know_is_refused(spark: SparkSession) -> None:
    with pytest.raises(Refused) as caught:
        DeltaSource(None, ["no_such_table"], ReadySpark(spark)).pin(DAY)
    assert caught.value.code == "no_table"
