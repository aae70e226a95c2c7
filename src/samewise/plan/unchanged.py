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
    UNTOLD = "the source cannot tell whether it changed"
    CONTRACT = "it was loaded under an older contract"
    TARGET = "the target was changed by someone else"
    TARGET_GONE = "the target is gone"
    LOG_TRUNCATED = "the target's log no longer reaches back to the receipt"


STALE: dict[str, frozenset[Reason]] = {
    "source": frozenset({Reason.SOURCE, Reason.UNTOLD}),
    "definition": frozenset({Reason.DEFINITION}),
    "contract": frozenset({Reason.CONTRACT}),
    "target": frozenset({Reason.TARGET, Reason.TARGET_GONE, Reason.LOG_TRUNCATED}),
}
"""What a loaded window can differ in from its receipt, by the word for it on the command line."""


def why_due(
    receipt: Receipt | None,
    *,
    definition: str,
    fingerprint: str,
    target_exists: bool,
    commits: Sequence[TargetCommit] | None,
    keyed: bool = False,
    contract: str | None = None,
    table_id: str | None = None,
    source_tells: bool = True,
) -> list[Reason]:
    """Every reason, the weightiest first; none where everything is as the receipt says: a run would change nothing.

    `commits` are the target's commits after `receipt.known_up_to`; None if its log does not reach back that far.
    `keyed`: other windows of the task may change rows that this one wrote, as they should.
    `contract` is the one that holds now, where one that is not the receipt's counts.
    `source_tells`: False where the fingerprint differs each time, for want of a better one.
    """
    if receipt is None:
        return [Reason.NEVER_LOADED]
    reasons: list[Reason] = []
    if receipt.definition != definition:
        reasons.append(Reason.DEFINITION)
    if receipt.fingerprint != fingerprint:
        reasons.append(Reason.SOURCE if source_tells else Reason.UNTOLD)
    if contract is not None and receipt.contract not in (None, contract):
        reasons.append(Reason.CONTRACT)
    other = why_other(receipt, target_exists=target_exists, commits=commits, keyed=keyed, table_id=table_id)
    return reasons if other is None else [*reasons, other]


def why_other(
    receipt: Receipt,
    *,
    target_exists: bool,
    commits: Sequence[TargetCommit] | None,
    keyed: bool = False,
    table_id: str | None = None,
) -> Reason | None:
    """Why the target may not hold any more what the receipt says; None where it does."""
    if not target_exists:
        return Reason.TARGET_GONE
    if is_another_table(receipt, table_id):
        return Reason.TARGET
    if commits is None:
        return Reason.LOG_TRUNCATED
    return Reason.TARGET if _was_changed(receipt, commits, keyed=keyed) else None


def is_another_table(receipt: Receipt, table_id: str | None) -> bool:
    """True if the table was dropped and made again since the receipt."""
    return None not in (receipt.table_id, table_id) and receipt.table_id != table_id


def _was_changed(receipt: Receipt, commits: Sequence[TargetCommit], *, keyed: bool) -> bool:
    # A run that had nothing to write left no commit, only the table in which it found its rows.
    if receipt.wrote or receipt.seen_version is None:
        # A table that was dropped and made again counts its versions anew: the receipt's commit must be there itself.
        own = next((commit for commit in commits if commit.version == receipt.target_version), None)
        if own is None or (receipt.wrote and not _is_of(own, receipt)):
            return True
        commits = [commit for commit in commits if commit is not own]
    return any(_touches(commit, receipt, keyed=keyed) for commit in commits)


def _is_of(commit: TargetCommit, receipt: Receipt) -> bool:
    return commit.stamp is not None and any(part.run_id == receipt.run_id for part in commit.stamp.parts)


def _touches(commit: TargetCommit, receipt: Receipt, *, keyed: bool) -> bool:
    if not commit.changes_data:
        return False
    stamp = commit.stamp
    if stamp is None or (stamp.pipeline, stamp.task) != (receipt.pipeline, receipt.task):
        return True
    return not keyed and any(part.window.overlaps(receipt.window) for part in stamp.parts)
