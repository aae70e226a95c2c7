"""Each cause in words: what happened, and what to do instead."""

from __future__ import annotations

from samewise.prove.verdict import Cause, Difference

_SENTENCES: dict[Cause, tuple[str, str]] = {
    Cause.APPEND: (
        "the rows were added to what was there, so each run adds them again",
        "replace what the run owns (its day, its partition) in one commit, or merge by key",
    ),
    Cause.CLOCK: (
        "{columns} holds the time of the run, so each run writes another value",
        "take the time from the run's own date or window (in Samewise: run_ts), or leave the column out",
    ),
    Cause.GENERATED_KEY: (
        "{columns} is made anew by each run (a uuid, a random or running number), so that no row meets itself again",
        "make it of the row's business columns: sha2(concat_ws('|', …), 256), in Samewise `hash_key`",
    ),
    Cause.TIE: (
        "of several rows with the same key another one won: nothing decides between them, so the files' layout does",
        "order by enough columns that no two rows are equal (a version, then an id, then a hash of the row)",
    ),
    Cause.DOUBLE_SUM: (
        "{columns} differs in its last digits: a sum of doubles depends on the order in which they are added",
        "add up decimals: sum(CAST(… AS DECIMAL(38, 6))), and cast the result if it must be a double",
    ),
    Cause.DUPLICATE_KEYS: (
        "a key is in the batch twice, or is NULL: one run inserts each such row, the next adds or fails on them",
        "before the merge keep one row a key, chosen by a total order, and refuse rows without a key",
    ),
    Cause.OLD_OVER_NEW: (
        "an older batch that came last took the place of newer values",
        "let only newer versions win (WHEN MATCHED AND s.version > t.version), or replace only the batch's own day",
    ),
    Cause.STALE_PARTITION: (
        "the input became empty and the old rows stayed: a dynamic overwrite only replaces partitions that get rows",
        "overwrite by predicate (replaceWhere, DELETE and INSERT in one transaction), which also clears an empty day",
    ),
    Cause.HALF_WRITTEN: (
        "the write is more than one commit, and a kill, or another run, between two of them leaves a part",
        "publish in one commit: one replaceWhere, one MERGE, or DELETE and INSERT in one transaction",
    ),
    Cause.WATERMARK_FIRST: (
        "the run noted its input as done before its rows were there, so the next run passed over it",
        "move the watermark after the commit, or in the same transaction",
    ),
    Cause.EFFECT_PER_RUN: (
        "a side effect (a message, a call, a line in a log) happens once for each run, not once for each input",
        "give each effect a key made of its input, and skip what was sent with that key",
    ),
    Cause.ORDER_DEPENDENT: (
        "{columns} depends on the order in which rows arrive (a running number, a list that is not sorted)",
        "sort inside the aggregate (array_sort, ORDER BY in the window by a total order) or number by a key",
    ),
    Cause.OTHER_WINDOWS: (
        "the run changed rows of windows that it was not asked for",
        "write the window's own rows only: what is deleted and what is inserted must have the same bounds",
    ),
    Cause.UNKNOWN: (
        "the rows differ, and nothing in them says why",
        "look at the rows above: whatever made them is read or computed anew by each run",
    ),
}


def what_happened(cause: Cause, difference: Difference | None = None) -> str:
    """The cause in words, with the names of the columns where it is about some."""
    names = difference.changed_columns if difference is not None else ()
    columns = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
    return _SENTENCES[cause][0].replace("{columns}", columns or "a column")


def what_to_do(cause: Cause) -> str:
    """How such a job is written so that it can be repeated."""
    return _SENTENCES[cause][1]


def sentence(cause: Cause, difference: Difference | None = None) -> str:
    """The cause in words, then what to do about it."""
    return f"{what_happened(cause, difference)}. Instead: {what_to_do(cause)}."
