"""Why a window that was loaded once must be loaded again; or that it need not be."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from samewise.core.records import Receipt, TargetCommit


class Reason(StrEnum):
    """Why a run is due."""

    NEVER_LOADED = "never loaded"
    FORCED = "forced"
    DEFINITION = "the definition changed"
    SOURCE = "the source changed"
    TARGET = "the target was changed by someone else"
    TARGET_GONE = "the target is gone"
    LOG_TRUNCATED = "the target's log no longer reaches back to the receipt"


def why_due(
    receipt: Receipt | None,
    *,
    definition: str,
    fingerprint: str,
    target_exists: bool,
    commits: Sequence[TargetCommit] | None,
    keyed: bool = False,
    table_id: str | None = None,
) -> Reason | None:
    """None where everything is as the receipt says: then a run would change nothing.

    `commits` are the target's commits from the receipt's own on; None if its log does not reach back that far.
    `keyed`: other windows of the task may change rows that this one wrote, as they should.
    """
    if receipt is None:
        return Reason.NEVER_LOADED
    if receipt.definition != definition:
        return Reason.DEFINITION
    if receipt.fingerprint != fingerprint:
        return Reason.SOURCE
    if not target_exists:
        return Reason.TARGET_GONE
    if commits is None:
        return Reason.LOG_TRUNCATED
    # A table that was dropped and made again counts its versions anew: the receipt's commit must be there itself.
    own, *later = commits or (None,)
    if receipt.wrote and (own is None or own.stamp is None or own.stamp.run_id != receipt.run_id):
        return Reason.TARGET
    # A run that had nothing to write left no commit, only the table in which it found its rows.
    if not receipt.wrote and (own is None or receipt.table_id != table_id):
        return Reason.TARGET
    if any(_touches(commit, receipt, keyed=keyed) for commit in later):
        return Reason.TARGET
    return None


def _touches(commit: TargetCommit, receipt: Receipt, *, keyed: bool) -> bool:
    if not commit.changes_data:
        return False
    stamp = commit.stamp
    if stamp is None or (stamp.pipeline, stamp.task) != (receipt.pipeline, receipt.task):
        return True
    return not keyed and stamp.window.overlaps(receipt.window)
