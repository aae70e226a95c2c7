"""A commit on a Delta table: what it carries, and what it means when it fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from samewise.core.errors import Conflict, MayHaveLanded, OutOfSpace, Refused, Transient
from samewise.core.records import Stamp


def token(stamp: Stamp) -> dict[str, str | int]:
    """The writer's options that make a commit carry the stamp, and be skipped where its token is taken."""
    return {"txnAppId": stamp.app_id, "txnVersion": stamp.generation, "userMetadata": stamp.text}


@contextmanager
def committing(reference: str) -> Iterator[None]:
    """Run something that commits on the table that Spark SQL calls `reference`; an error says what became of it."""
    try:
        yield
    except Exception as error:
        from samewise.storage.failures import Kind, read_failure

        failure = read_failure(error)
        match failure.kind:
            case Kind.CONFLICT:
                raise Conflict(f"another commit came first: {failure.summary}") from error
            case Kind.LOST_ENGINE:
                raise MayHaveLanded(f"Spark was lost during the commit: {failure.summary}") from error
            case Kind.OUT_OF_SPACE:
                raise OutOfSpace(
                    f"no space left to write {reference}: {failure.summary}",
                    next_step="free some space, then run the same command again",
                ) from error
            case Kind.TRANSIENT:
                raise Transient(failure.summary) from error
            case Kind.REFUSED:
                raise _refusal(failure.conditions, failure.summary) from error
            case _:
                raise


def outside_window() -> Refused:
    """Rows that the window's predicate does not hold for."""
    return Refused(
        "the result has rows that lie outside the window",
        code="outside_window",
        next_step="filter them in the transform, or leave out write.window_column so that late rows "
        "belong to the window that loaded them",
    )


def _refusal(conditions: Sequence[str], summary: str) -> Refused:
    if "DELTA_REPLACE_WHERE_MISMATCH" in conditions:
        return outside_window()
    return Refused(f"the target refuses the rows: {summary}", code="target_constraint")
