"""Which rows of a table a window, or a run since the watermark, reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from samewise.core.errors import ConfigError
from samewise.core.schema import Schema
from samewise.core.sql import Span
from samewise.core.windows import Window
from samewise.plan.since import SinceColumn
from samewise.plan.spans import window_span
from samewise.spec import sources as source_specs
from samewise.spec.pipeline import PipelineSpec
from samewise.wiring.sources import since_zone


@dataclass(frozen=True, slots=True)
class TimeColumns:
    """The columns of a table that say which rows a window, or a run since the watermark, reads."""

    pipeline: PipelineSpec
    window_column: str | None
    renames: Mapping[str, str]
    since_spec: source_specs.Since | None

    def since(self, schema: Schema) -> SinceColumn:
        """The column that says when a row was changed."""
        assert self.since_spec is not None
        name = self.since_spec.column
        if schema.get(name) is None:
            name = self._new_name(name) or name
        try:
            return SinceColumn.of(schema, name, since_zone(self.pipeline, self.since_spec))
        except ValueError as error:
            raise ConfigError(
                f"source.incremental.column: {error}",
                kept="nothing was read",
                next_step="name the column that says when a row of the table was changed",
            ) from error

    def span(self, schema: Schema, window: Window) -> Span | None:
        """The rows of a window; None for all."""
        if self.window_column is None or window.is_full:
            return None
        column = schema.get(self.window_column) or schema.get(self._new_name(self.window_column) or "")
        if column is None:
            raise ConfigError(
                f"source.window_column: the source has no column {self.window_column}",
                next_step=f"name one of {', '.join(schema.names)}",
            )
        try:
            return window_span(column.name, column.type, window, self.pipeline.zone)
        except ValueError as error:
            raise ConfigError(f"source.window_column: {error}") from error

    def _new_name(self, old: str) -> str | None:
        return {name.lower(): new for name, new in self.renames.items()}.get(old.lower())
