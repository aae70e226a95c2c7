"""Rows of a PostgreSQL target as a DataFrame: for a comparison, and for a look at what is there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from samewise.core.errors import Refused
from samewise.core.keyed import DELETED_AT, EPOCH, Keyed
from samewise.core.measures import Measures, measure_expressions, read_measures
from samewise.core.sql import Span, quote
from samewise.storage.frames import schema_of
from samewise.storage.postgres import Attribute, Relation, find_relation, name, resolved_conninfo, text
from samewise.targets import postgres_copy
from samewise.targets.postgres_stage import send_by_value

if TYPE_CHECKING:
    from psycopg.sql import Composable
    from pyspark.sql import DataFrame, SparkSession

    from samewise.storage.postgres import Session

_ARROW = {
    "boolean": "bool",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float32",
    "double": "float64",
}
_DAYS = "({} - date '1970-01-01')::int"
_MICROS = "(extract(epoch FROM {}) * 1000000)::bigint"


def read_table(
    session: Session, spark: SparkSession, there: Relation, place: tuple[str, str], span: Span | None
) -> DataFrame:
    """The rows of a span, all where it is None, as they are when the frame is computed."""
    where: Composable = text("true")
    if span is not None:
        attribute = there.attribute(span.column)
        assert attribute is not None, span.column
        where = literal_predicate(span, attribute.name)
    columns = [attribute for attribute in there.attributes if not attribute.generated]
    return _frame(session, spark, columns, [(place, where, columns)])


def read_keyed(
    session: Session,
    spark: SparkSession,
    there: Relation,
    place: tuple[str, str],
    tombstones: tuple[str, str] | None,
    keyed: Keyed,
) -> DataFrame:
    """The rows, and of a merge the keys that were deleted: with the bookkeeping that a comparison needs."""
    columns = [attribute for attribute in there.attributes if not attribute.generated]
    if not keyed.updates:
        return _frame(session, spark, columns, [(place, text("true"), columns)])
    deleted = Attribute(DELETED_AT, "timestamp with time zone", True)
    if there.attribute(EPOCH) is None:
        columns.append(Attribute(EPOCH, "bigint", True))
    wanted = [*columns, deleted]
    parts = [(place, text("true"), [a for a in columns if there.attribute(a.name) is not None])]
    tombs = None if tombstones is None else find_relation(session, *tombstones)
    if tombs is not None and tombstones is not None:
        parts.append((tombstones, text("true"), [a for a in wanted if tombs.attribute(a.name) is not None]))
    return _frame(session, spark, wanted, parts)


def measured(rows: DataFrame) -> Measures:
    """What the rows of a frame measure."""
    expressions = measure_expressions(schema_of(rows))
    found = rows.selectExpr(*[f"{sql} AS {quote(name)}" for name, sql in expressions.items()]).first()
    assert found is not None
    measures = read_measures(found.asDict())
    assert measures is not None, "more than 2**41 rows in one window"
    return measures


def _frame(
    session: Session,
    spark: SparkSession,
    columns: Sequence[Attribute],
    parts: Sequence[tuple[tuple[str, str], Composable, Sequence[Attribute]]],
) -> DataFrame:
    """One task reads everything in one statement, so that it is all of one moment."""
    selects = []
    for place, where, present in parts:
        known = {attribute.name for attribute in present}
        values = [_sent(a, name("t", a.name) if a.name in known else text(f"NULL::{a.type}")) for a in columns]
        selects.append(text("SELECT {} FROM {} t WHERE {}").format(text(", ").join(values), name(*place), where))
    query = text("COPY ({}) TO STDOUT (FORMAT csv)").format(text(" UNION ALL ").join(selects)).as_string(session)
    types = [(f"c{at}", _arrow(attribute)) for at, attribute in enumerate(columns)]
    ddl = ", ".join(f"c{at} {_sent_type(attribute)}" for at, attribute in enumerate(columns))
    send_by_value()
    conninfo = resolved_conninfo(session, purpose="read")
    sent = spark.range(0, 1, 1, 1).mapInArrow(postgres_copy.reader(conninfo, query, types), ddl)
    return sent.selectExpr(*[f"{_value(a, f'c{at}')} AS {quote(a.name)}" for at, a in enumerate(columns)])


def _spark_type(attribute: Attribute) -> str:
    known = attribute.spark_type
    if known is not None:
        return known
    if attribute.type in ("uuid", "jsonb") or attribute.is_enum:
        return "string"
    if attribute.type == "numeric":
        return "decimal(38,18)"
    raise Refused(f"the column {attribute.name} is {attribute.type}, which Spark cannot read", code="target_schema")


def _sent(attribute: Attribute, value: Composable) -> Composable:
    """A value as it is sent: as a number or a text that reads the same everywhere."""
    type_ = _spark_type(attribute)
    if type_ == "date":
        return text(_DAYS).format(value)
    if type_ in ("timestamp", "timestamp_ntz"):
        return text(_MICROS).format(value)
    if type_ == "binary":
        return text("encode({}, 'hex')").format(value)
    if type_.startswith("array<"):
        return text("to_jsonb({})::text").format(value)
    return text("{}::text").format(value) if _arrow(attribute) == "string" else value


def _arrow(attribute: Attribute) -> str:
    """The type in which a value is read from CSV."""
    type_ = _spark_type(attribute)
    if type_ == "date":
        return "int32"
    if type_ in ("timestamp", "timestamp_ntz"):
        return "int64"
    return _ARROW.get(type_, "string")


def _sent_type(attribute: Attribute) -> str:
    names = {"int16": "SMALLINT", "int32": "INT", "int64": "BIGINT", "bool": "BOOLEAN", "float32": "FLOAT"}
    return {**names, "float64": "DOUBLE", "string": "STRING"}[_arrow(attribute)]


def _value(attribute: Attribute, sent: str) -> str:
    """Spark SQL that makes the value again."""
    type_ = _spark_type(attribute)
    if type_ == "date":
        return f"date_from_unix_date({sent})"
    if type_ == "timestamp":
        return f"timestamp_micros({sent})"
    if type_ == "timestamp_ntz":
        return (
            f"TIMESTAMP_NTZ'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, CAST({sent} AS DECIMAL(20,0)) / 1000000)"
        )
    if type_ == "binary":
        return f"unhex({sent})"
    if type_.startswith("array<"):
        return f"from_json({sent}, '{type_}')"
    if re.match(r"decimal\(", type_):
        return f"CAST({sent} AS {type_})"
    return sent


def literal_predicate(span: Span, column: str) -> Composable:
    """The rows of a span in a table that is called `t`. COPY takes no bound values: psycopg writes them as literals."""
    from psycopg import sql

    if span.upper is None:
        return text("t.{} = {}").format(name(column), sql.Literal(span.lower))
    lower, upper = sql.Literal(span.lower), sql.Literal(span.upper)
    return text("t.{0} >= {1} AND t.{0} < {2}").format(name(column), lower, upper)
