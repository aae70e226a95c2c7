"""The `source:` of a task that reads PostgreSQL."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from samewise.core.pg_sql import impure_names
from samewise.spec.connections import PostgresRef
from samewise.spec.fields import ColumnName, Model, Name, Part, Text, all_wrong
from samewise.spec.sources import Drift, Since
from samewise.spec.templates import is_template


class PostgresSource(Model):
    """Rows of a PostgreSQL table or query: all of them, those of the window, or those since the watermark."""

    type: Literal["postgres"]
    connection: Name | None = None
    """May be left out where the project has just one."""
    schema_name: Text | None = Field(default=None, alias="schema")
    table: Text | None = None
    query: Text | None = None
    """One SELECT of PostgreSQL's; `:window_start` and the like are filled in."""
    window_column: ColumnName | None = None
    incremental: Since | None = None
    fingerprint: Text | None = None
    """A SELECT whose answer changes whenever the rows do; without it every run reads again."""
    readers: Annotated[int, Field(ge=1, le=64, strict=True)] | None = None
    """How many read at once; by the planner's estimate, and at most four, without it."""
    partition_by: ColumnName | None = None
    """The column by which readers share out the rows; a table needs none."""
    drift: Drift = Field(default_factory=Drift)

    @model_validator(mode="after")
    def _is_clear(self) -> PostgresSource:
        parts: list[Part] = []
        if (self.table is None) == (self.query is None):
            parts.append(((), "needs either 'table' or 'query'" + (", not both" if self.table is not None else "")))
        for key, text in (("query", self.query), ("fingerprint", self.fingerprint)):
            if text is None:
                continue
            if is_template(text):
                parts.append(((key,), "is no template: write :window_start or :name of a param, which are quoted"))
            impure = impure_names(text)
            if impure:
                sentence = (
                    f"{', '.join(impure)} would give another answer to each reader and to a retry: use :window_start"
                )
                parts.append(((key,), sentence))
        if self.schema_name is not None and self.query is not None:
            parts.append((("schema",), "belongs to a table; a query's plain names are looked for in the connection's"))
        if self.drift.order != "fail":
            parts.append((("drift", "order"), "a table is read by name: the order of columns makes no difference"))
        if parts:
            raise all_wrong(parts)
        return self

    @property
    def ref(self) -> PostgresRef | None:
        """The table; None for a query."""
        if self.table is None:
            return None
        return PostgresRef.model_validate(
            {"connection": self.connection, "schema": self.schema_name, "table": self.table}
        )
