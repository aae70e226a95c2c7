"""How far an incremental read may go: to an instant before which no row can still appear.

A row is stamped when its transaction runs and seen when that commits. A transaction that is open now may still
commit rows that are stamped with any time since it began, so the bound stays behind the oldest one that may write.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError, Transient

if TYPE_CHECKING:
    from samewise.storage.postgres import Session

READ_PURPOSE = "read"
"""Of our own readers' sessions. They are read-only: nobody need wait for them."""
_SETTLE = timedelta(seconds=1)
"""A transaction takes its time a moment before other sessions can see it."""

_SERVER = """
SELECT clock_timestamp(), pg_is_in_recovery(), pg_last_xact_replay_timestamp(),
       (SELECT min(prepared) FROM pg_prepared_xacts WHERE database = current_database())
"""
# A session of another role shows its start only to members of pg_read_all_stats (and to superusers). Without a
# start of its own a backend that was hidden shows no type either.
_OPEN = """
SELECT min(xact_start) FILTER (WHERE application_name <> %(own)s),
       count(*) FILTER (WHERE backend_type IS NULL AND pid <> pg_backend_pid()),
       (array_agg(pid ORDER BY xact_start) FILTER (WHERE application_name <> %(own)s AND xact_start IS NOT NULL))[1]
FROM pg_stat_activity
WHERE (datname = current_database() OR datname IS NULL) AND pid <> pg_backend_pid()
  AND (backend_type IS NULL OR backend_type NOT IN ('autovacuum worker', 'walsender'))
"""


@dataclass(frozen=True, slots=True)
class Horizon:
    """No row that commits from now on is stamped before `at`, if rows are stamped with their transaction's time."""

    at: datetime
    held_back_by: str | None = None
    """Who keeps it behind the clock."""


def find_horizon(session: Session, *, own_name: str, has_lag: bool) -> Horizon:
    """Ask the server. The clock is read first: whatever begins later is stamped later.

    Raises `ConfigError` where open transactions cannot be seen and no `lag` says how old they may be, `Transient`
    while a prepared transaction hides its age.
    """
    row = session.execute(_SERVER).fetchone()
    assert row is not None
    clock, standby, replayed, prepared = row
    if standby:
        if not has_lag:
            raise _unseen("this server is a standby: the open transactions of its primary cannot be seen from here")
        return Horizon(_utc(replayed or clock), "what the standby has replayed")
    opened = session.execute(_OPEN, {"own": own_name}).fetchone()
    assert opened is not None
    oldest, hidden, pid = opened
    if hidden and not has_lag:
        raise _unseen("the role cannot see how long other sessions' transactions have been open")
    if prepared is not None and not has_lag:
        raise Transient(
            f"a transaction that was prepared at {prepared} is open, and PostgreSQL does not say when it began",
            kept="nothing was read; the watermark is where it was",
            next_step="COMMIT PREPARED or ROLLBACK PREPARED it (see pg_prepared_xacts); or write incremental.lag, "
            "as long as a transaction may have run before it was prepared",
        )
    settled = _utc(clock) - _SETTLE
    horizon = Horizon(settled)
    if oldest is not None and _utc(oldest) < settled:
        horizon = Horizon(_utc(oldest), f"a transaction of process {pid}")
    if prepared is not None and _utc(prepared) < horizon.at:
        horizon = Horizon(_utc(prepared), "a prepared transaction")
    return horizon


def _unseen(what: str) -> ConfigError:
    return ConfigError(
        f"source.incremental: {what}, and a row that commits late would be lost",
        kept="nothing was read; the watermark is where it was",
        next_step="GRANT pg_read_all_stats to the role and read from the primary; or write incremental.lag, longer "
        "than any transaction there is open",
        code="unseen_transactions",
    )


def _utc(instant: object) -> datetime:
    assert isinstance(instant, datetime)
    return instant.astimezone(UTC)
