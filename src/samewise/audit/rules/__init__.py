"""The rules. A new one is a function here, a line in this list, and a page in docs/rules."""

from __future__ import annotations

from samewise.audit.rules import (
    accumulate,
    clocks,
    effects,
    frames,
    inserts,
    keys,
    models,
    order,
    progress,
    replace,
    retries,
    streams,
)
from samewise.audit.rules.base import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        "SW101", "append-without-key", "Append without replace or key",
        "A second run appends the same rows again, and nothing notices.",
        "a retry after the write landed", "replace the window, or merge by key", frames.append,
    ),
    Rule(
        "SW102", "insert-select-without-guard", "INSERT ... SELECT without a guard",
        "Nothing in the statement or around it asks whether the rows are there already.",
        "a retry, a rerun, a backfill", "ON CONFLICT, MERGE, or DELETE + INSERT in one transaction",
        inserts.insert_select,
    ),
    Rule(
        "SW103", "insert-without-on-conflict", "Rows inserted without ON CONFLICT",
        "Rows that were loaded before are inserted again, or the load stops at the first one that is there.",
        "a load that died half-way and starts over", "a unique key and ON CONFLICT", inserts.insert_values,
    ),
    Rule(
        "SW104", "dedup-later", "Duplicates are taken out later",
        "Between the write and the clean-up readers see duplicates, and a clean-up that fails leaves them.",
        "the clean-up fails, or readers come first", "write by key, so that nothing needs it",
        inserts.dedup_later,
    ),
    Rule(
        "SW105", "adds-to-itself", "A value is added to itself",
        "The second run adds the same amount a second time, though it finds the row by its key.",
        "a retry after the write landed", "set the total of the window, or mark what was applied",
        accumulate.adds_again,
    ),
    Rule(
        "SW201", "delete-insert-not-atomic", "DELETE + INSERT outside one transaction",
        "A failure between the two leaves the target without the rows.",
        "a crash between two commits", "one transaction, or one statement", replace.delete_insert,
    ),
    Rule(
        "SW202", "swap-drops-first", "A swap that drops the table first",
        "A failure between DROP and what follows leaves no table at all.",
        "a crash in the middle of a swap", "CREATE OR REPLACE, SWAP, or a transaction", replace.dropping_swap,
    ),
    Rule(
        "SW203", "plain-overwrite", "Overwrite of plain files",
        "The old files are deleted before the new ones are written: a failure in between loses both.",
        "a job that dies while it overwrites", "a table format (Delta, Iceberg)", frames.plain_overwrite,
    ),
    Rule(
        "SW204", "dynamic-overwrite", "Dynamic overwrite keeps stale partitions",
        "A partition for which nothing is left in the result is not replaced: its old rows stay.",
        "a day that becomes empty at the source", "overwrite by predicate (replaceWhere)", frames.dynamic_overwrite,
    ),
    Rule(
        "SW205", "coarse-partition", "Partition coarser than the schedule",
        "Each run replaces a whole partition with the part of it that it loaded: the other runs' rows are lost.",
        "an hourly job over daily partitions", "the partition as wide as the run's interval", clocks.coarse_partition,
    ),
    Rule(
        "SW301", "merge-duplicate-source", "MERGE with duplicate keys in its source",
        "The first run inserts both copies of a new key, and the next one fails, or updates them at random.",
        "a key twice in one batch", "one row of each key before the MERGE", keys.merge_duplicates,
    ),
    Rule(
        "SW302", "generated-key", "Key made while the job runs",
        "The same row gets another key in every run, so it can neither be found again nor replaced.",
        "a rerun of what was loaded", "a key derived from the row", keys.generated,
    ),
    Rule(
        "SW303", "processing-time-in-key", "Time of loading in a key",
        "Every run brings new keys, so nothing is ever recognised as a duplicate.",
        "a rerun of what was loaded", "a key of the row's own columns", keys.processing_key,
    ),
    Rule(
        "SW304", "row-number-ties", "ROW_NUMBER without a total order",
        "Rows that tie are picked by chance: the same input gives another result in the next run.",
        "a rerun on another layout of the data", "a tie breaker that is unique", order.row_number,
    ),
    Rule(
        "SW305", "limit-without-order", "LIMIT without ORDER BY feeds a write",
        "Which rows are written is decided by chance, in every run anew.",
        "any second run", "ORDER BY a unique key, or a predicate", order.limit,
    ),
    Rule(
        "SW306", "offset-as-key", "Offset as a key",
        "An offset says where a message lies, not which one it is: sent again it has another one.",
        "a producer's retry, a new topic", "an id that the producer sets", keys.offset_key,
    ),
    Rule(
        "SW401", "clock-in-filter", "Clock in the filter of an incremental load",
        "A run that is late or repeated loads other rows than the one it stands for.",
        "a late run, a retry after midnight, a backfill", "the window as a parameter", clocks.clock_in_filter,
    ),
    Rule(
        "SW402", "clock-in-task", "Clock where the data interval belongs",
        "The orchestrator says which interval a run is for; the clock says when it happens to run.",
        "a retry after midnight, a backfill", "the run's data interval", clocks.none,
    ),
    Rule(
        "SW403", "watermark-first", "Watermark stored before the write",
        "A failure after the watermark moved and before the rows landed loses them for good.",
        "a crash between watermark and write", "the watermark last, in the same transaction",
        progress.mark_before_write,
    ),
    Rule(
        "SW404", "overlapping-runs", "Load goes on from its target while runs may overlap",
        "Two runs that read the same newest row both load what follows it, and one that comes out of order skips rows.",
        "a backfill, or a run that outlasts its interval", "one run at a time", progress.overlapping,
    ),
    Rule(
        "SW501", "retries-on-unsafe-write", "Retries on a task whose write is unsafe",
        "The orchestrator repeats the task by itself, and each time the write does its harm again.",
        "any transient failure", "a safe write first, then retries", retries.retried,
    ),
    Rule(
        "SW601", "post-without-key", "POST without an idempotency key",
        "A request whose answer was lost is sent again, and what it asks for is done twice.",
        "a timeout after the server has acted", "an idempotency key", effects.post,
    ),
    Rule(
        "SW602", "produce-without-key", "Kafka message without key or idempotence in a retried task",
        "The retry sends every message again, and no consumer can tell the copies apart.",
        "a retry of the task", "a key, and an idempotent producer", effects.produce,
    ),
    Rule(
        "SW701", "stream-without-checkpoint", "Streaming write without a checkpoint",
        "After a restart the stream begins anew, or skips what came meanwhile.",
        "a restart of the stream", "a checkpointLocation of its own", streams.checkpoint,
    ),
    Rule(
        "SW702", "foreachbatch-append", "foreachBatch with a plain append",
        "Spark runs a batch again when it is not sure that it ended: its rows are there twice.",
        "a restart in the middle of a batch", "txnAppId and txnVersion, or MERGE", streams.batch_append,
    ),
    Rule(
        "SW801", "dbt-incremental-without-key", "dbt incremental model without a unique key",
        "Every run inserts what its SELECT gives, whether it is there already or not.",
        "dbt retry, dbt run twice", "unique_key, or insert_overwrite", models.incremental,
    ),
)  # fmt: skip

BY_ID = {rule.id: rule for rule in RULES}

VERSION = 3
"""Raised when rules or readers change, so that what was remembered of a file is not believed any more."""
