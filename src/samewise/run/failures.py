"""From whatever was raised during an attempt to the error that a person is told."""

from __future__ import annotations

from samewise.core.errors import (
    ConfigError,
    Conflict,
    MayHaveLanded,
    OutOfSpace,
    Refused,
    SamewiseError,
    Transient,
)
from samewise.core.ports import Source
from samewise.core.records import RunRecord
from samewise.run.transform import as_transform_failure
from samewise.storage.failures import Kind, read_failure


def explain(error: Exception, source: Source, run: RunRecord) -> SamewiseError:
    """Our own error for any other; the source is asked first, since it knows its files best."""
    if isinstance(error, SamewiseError):
        return error
    theirs = source.explain_failure(error, run.source)
    if theirs is not None:
        return theirs
    failure = read_failure(error)
    match failure.kind:
        case Kind.TRANSFORM:
            return as_transform_failure(error)
        case Kind.REFUSED:
            return Refused(failure.summary)
        case Kind.SETTINGS:
            return ConfigError(failure.summary, next_step="mend the connection or the role's privileges")
        case Kind.CONFLICT:
            return Conflict(failure.summary)
        case Kind.OUT_OF_SPACE:
            return OutOfSpace(failure.summary, next_step="free some space, then run the same command again")
        case Kind.LOST_ENGINE:
            return MayHaveLanded(f"Spark was lost: {failure.summary}", next_step="run the same command again")
        case Kind.TRANSIENT:
            return Transient(failure.summary, next_step="run the same command again")
        case Kind.UNKNOWN:
            return SamewiseError(
                f"{type(error).__name__}: {failure.summary}",
                code="unexpected",
                next_step="the whole story is in .samewise/logs; if it is neither the data nor the cluster, report it",
            )
