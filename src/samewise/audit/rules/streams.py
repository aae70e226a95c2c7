"""Streams: SW701, SW702."""

from __future__ import annotations

from collections.abc import Iterator

from samewise.audit.facts import Flow, FrameOp, SqlOp, StreamOp
from samewise.audit.finding import Finding, Fix, Level
from samewise.audit.rules.base import found, last_part, named, swap
from samewise.audit.rules.shared import above, by_key, cleared_before, guard_of, quiet
from samewise.audit.sql.statement import is_log

_TO_LOOK_AT = frozenset({"console", "memory", "noop", "rate"})


def checkpoint(flow: Flow) -> Iterator[Finding]:
    """SW701: a stream that does not remember how far it came."""
    if quiet(flow):
        return
    for op in flow.ops:
        if not isinstance(op, StreamOp) or op.checkpoint or op.sink in _TO_LOOK_AT:
            continue
        if any("checkpointlocation" in name.lower() for name in flow.conf):
            continue
        place = f"<path>/_checkpoints/{last_part(op.target)}"
        yield found(
            "SW701",
            op,
            Level.ERROR,
            f"the stream into {named(op.target, 'its sink')} has no checkpoint: after a restart it"
            f" begins anew, or skips what came meanwhile",
            Fix(
                f'.option("checkpointLocation", "{place}")',
                swap(
                    flow.context,
                    op.place,
                    r"\.(start|toTable|table)\(",
                    rf'.option("checkpointLocation", "{place}").\1(',
                ),
            ),
            unsure=not op.sure,
            target=op.target,
        )


def batch_append(flow: Flow) -> Iterator[Finding]:
    """SW702: Spark calls foreachBatch again for a batch that it is not sure of."""
    if quiet(flow) or not flow.batch:
        return
    for op in flow.ops:
        if isinstance(op, FrameOp) and op.mode in ("append", "unknown"):
            if op.frame.anti or {"txnappid", "txnversion"} & {name.lower() for name in op.options}:
                continue
            if (
                is_log(op.target)
                or above(op, op.target) in ("key", "check")
                or op.format in ("console", "noop", "kafka")
                or by_key(op)
            ):
                continue
            cleared = cleared_before(flow, op)
            if cleared is not None and cleared.sure:
                continue
            unsure = op.mode == "unknown" or not op.sure
        elif isinstance(op, SqlOp) and op.statement.kind in ("insert", "values", "copy"):
            if guard_of(flow, op) in ("key", "check") or is_log(op.statement.target):
                continue
            unsure = guard_of(flow, op) == "maybe"
        else:
            continue
        target = op.target if isinstance(op, FrameOp) else op.statement.target
        app = last_part(target)
        yield found(
            "SW702",
            op,
            Level.ERROR,
            f"foreachBatch appends to {named(target)}: a batch that is tried again is there twice",
            Fix(
                f'on Delta .option("txnAppId", "{app}").option("txnVersion", batch_id) makes the'
                f" second try a no-op; elsewhere MERGE by key",
                swap(
                    flow.context,
                    op.place,
                    r"\.mode\(\s*[\"']append[\"']\s*\)",
                    f'.mode("append").option("txnAppId", "{app}").option("txnVersion", batch_id)',
                ),
            ),
            unsure=unsure,
            target=target,
        )
