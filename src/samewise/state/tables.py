"""The tables as the queries see them. `migrations/` makes them; a test holds the two together.

Everything is prefixed, because a PostgreSQL database is often shared with other applications.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

from samewise.core.windows import parse_instant
from samewise.state.plain import fixed_text


class Instant(TypeDecorator[datetime]):
    """An aware UTC datetime, as ISO-8601 text of fixed width: the same in both databases, and it sorts."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        return None if value is None else fixed_text(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        return None if value is None else parse_instant(value)


class JsonText(TypeDecorator[Any]):
    """JSON as ASCII text, so that no odd character in a path or a message can make a write fail."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, sort_keys=True, separators=(",", ":"))

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Any | None:
        return None if value is None else json.loads(value)


metadata = MetaData()

meta = Table(
    "samewise_meta",
    metadata,
    Column("store_id", Text, primary_key=True),
    Column("level", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
)

runs = Table(
    "samewise_runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("pipeline", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("window_key", Text, nullable=False),
    Column("window_start", Instant, nullable=False),
    Column("window_end", Instant, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("target", Text, nullable=False),
    Column("definition", Text, nullable=False),
    Column("run_ts", Instant, nullable=False),
    Column("source", JsonText, nullable=False),
    Column("inputs", JsonText, nullable=False),
    Column("contract", Text),
    Column("base_version", BigInteger, nullable=False),
    Column("point", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("forced", Boolean, nullable=False),
    Column("planned_at", Instant, nullable=False),
    Column("closed_at", Instant),
    Column("error", JsonText),
    Column("epoch", BigInteger),
    Column("era", BigInteger),
    Column("group_id", Text),
    Column("group_span", Text),
    Column("group_generation", BigInteger),
    UniqueConstraint("pipeline", "task", "window_key", "generation"),
    Index("samewise_runs_by_time", "pipeline", "planned_at"),
    Index("samewise_runs_by_group", "group_id"),
)

attempts = Table(
    "samewise_attempts",
    metadata,
    Column("attempt_id", Text, primary_key=True),
    Column("run_id", Text, ForeignKey("samewise_runs.run_id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("error_code", Text),
    Column("error_message", Text),
    Column("host", Text, nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("staging", Text),
    Column("staging_dropped", Boolean, nullable=False),
    UniqueConstraint("run_id", "number"),
)

receipts = Table(
    "samewise_receipts",
    metadata,
    Column("run_id", Text, ForeignKey("samewise_runs.run_id"), primary_key=True),
    Column("pipeline", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("window_key", Text, nullable=False),
    Column("window_start", Instant, nullable=False),
    Column("window_end", Instant, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("target", Text, nullable=False),
    Column("target_version", BigInteger, nullable=False),
    Column("definition", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("contract", Text),
    Column("measures", JsonText),
    Column("rows_read", BigInteger),
    Column("rows_staged", BigInteger),
    Column("rows_deleted", BigInteger),
    Column("rows_quarantined", BigInteger),
    Column("recovered", Boolean, nullable=False),
    Column("landed_at", Instant, nullable=False),
    Column("epoch", BigInteger),
    Column("wrote", Boolean, nullable=False),
    Column("table_id", Text),
    Column("rows_inserted", BigInteger),
    Column("rows_updated", BigInteger),
    Column("rows_unchanged", BigInteger),
    Column("seen_version", BigInteger),
    UniqueConstraint("pipeline", "task", "window_key", "generation"),
)

tasks = Table(
    # What holds for a task now. Its row is also the lock that lines up two windows which end together.
    "samewise_tasks",
    metadata,
    Column("pipeline", Text, primary_key=True),
    Column("task", Text, primary_key=True),
    Column("watermark", Text),
    Column("watermark_moves", Integer, nullable=False),
    Column("contracts", Integer, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("era", BigInteger, nullable=False),
    Column("era_definition", Text),
    Column("era_contract", Text),
    Column("upstream", JsonText),
)

watermark_moves = Table(
    "samewise_watermark_moves",
    metadata,
    Column("pipeline", Text, primary_key=True),
    Column("task", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("value", Text, nullable=False),
    Column("moved_at", Instant, nullable=False),
    Column("run_id", Text),
    Column("reason", Text, nullable=False),
    Column("moved_by", Text),
)

contracts = Table(
    "samewise_contracts",
    metadata,
    Column("pipeline", Text, primary_key=True),
    Column("task", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("contract_id", Text, nullable=False),
    Column("schema", JsonText, nullable=False),
    Column("accepted_at", Instant, nullable=False),
    Column("run_id", Text),
    Column("reason", Text, nullable=False),
)

leases = Table(
    "samewise_leases",
    metadata,
    Column("target", Text, primary_key=True),
    Column("window_key", Text, primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("holder", JsonText),
    Column("acquired_at", Instant),
    Column("expires_at", Instant),
)

files = Table(
    # Every file that a task with `incremental: new_files` has loaded, as it was then.
    "samewise_files",
    metadata,
    Column("pipeline", Text, primary_key=True),
    Column("task", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("size_bytes", BigInteger, nullable=False),
    Column("version", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("loaded_at", Instant, nullable=False),
)

backfills = Table(
    "samewise_backfills",
    metadata,
    Column("backfill_id", Text, primary_key=True),
    Column("pipeline", Text, nullable=False),
    Column("span_start", Instant, nullable=False),
    Column("span_end", Instant, nullable=False),
    Column("newest_first", Boolean, nullable=False),
    Column("forced", Boolean, nullable=False),
    Column("status", Text, nullable=False),
    Column("asked", Text),
    Column("pins", JsonText, nullable=False),
    Column("windows", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("error", JsonText),
    Index("samewise_backfills_by_time", "pipeline", "created_at"),
)

backfill_windows = Table(
    # The windows that a backfill is done with, and how.
    "samewise_backfill_windows",
    metadata,
    Column("backfill_id", Text, ForeignKey("samewise_backfills.backfill_id"), primary_key=True),
    Column("window_key", Text, primary_key=True),
    Column("outcome", Text, nullable=False),
    Column("done_at", Instant, nullable=False),
)
