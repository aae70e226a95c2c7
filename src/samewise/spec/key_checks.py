"""How the keys of a task fit its strategy, its source and the columns that are known."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samewise.core.keys import canonical_text, is_comparable
from samewise.core.schema import Column, Schema
from samewise.spec.fields import WINDOW_COLUMN
from samewise.spec.pipeline import PipelineSpec, PostgresTarget, TaskSpec
from samewise.spec.sentences import Complaint
from samewise.spec.words import closest, listed
from samewise.spec.yaml_text import KeyPath

_BY_KEY = ("key", "version_by", "delete_when", "tombstones", "null_keys", "hash_key", "dedup_horizon")
_BY_WINDOW = "is for rows that are found by their key, and {strategy} goes by the window: drop it"
_WHOLE = "is for rows that are found by their key, and refresh replaces the whole table: drop it"
_UNUSED = {
    "merge": {
        "window_column": "merge finds rows by their key, whatever window they came with: drop it",
        "on_empty": "an empty batch changes nothing in a merge: drop it",
        "dedup_horizon": "merge looks for every key in the whole table; a horizon is for insert_new",
    },
    "insert_new": {
        "window_column": "insert_new finds rows by their key, whatever window they came with: drop it",
        "on_empty": "an empty batch adds nothing: drop it",
        "version_by": "insert_new never changes a row that is there, so none is newer than another; "
        "for the newest row of a batch use dedup:",
        "delete_when": "insert_new never deletes a row: use merge",
        "tombstones": "insert_new never deletes a row, so there is none to remember: use merge",
    },
    "replace_window": {name: _BY_WINDOW.format(strategy="replace_window") for name in _BY_KEY},
    "refresh": dict.fromkeys(_BY_KEY, _WHOLE),
}
_ONLY_REFRESH = "says how a refresh is done, and {strategy} is none: drop it"
_ONLY_POSTGRES = "is for a target in PostgreSQL: a Delta table is always replaced in one commit"
_INDEXED = "a unique index finds a key wherever it is: drop it, the whole table is looked at"

_FILE_METADATA = "_metadata"
_SUMMABLE = re.compile(r"tinyint|smallint|int|bigint|decimal\(\d+,\d+\)")
_TIMES = ("date", "timestamp", "timestamp_ntz")


def check_strategy(pipeline: PipelineSpec, task: TaskSpec, at: KeyPath) -> Iterator[Complaint]:
    """What a strategy needs and what it has no use for."""
    write = task.write
    for name, sentence in _UNUSED[write.strategy].items():
        if name in write.model_fields_set:
            yield Complaint((*at, "write", name), sentence, True)
    if "refresh" in write.model_fields_set:
        if not task.is_refresh:
            yield Complaint((*at, "write", "refresh"), _ONLY_REFRESH.format(strategy=write.strategy), True)
        elif not isinstance(task.target, PostgresTarget):
            yield Complaint((*at, "write", "refresh"), _ONLY_POSTGRES, True)
    if write.dedup_horizon is not None and isinstance(task.target, PostgresTarget):
        yield Complaint((*at, "write", "dedup_horizon"), _INDEXED, True)
    if task.is_incremental and not write.is_keyed:
        sentence = (
            f"an incremental source gives only what is new, and {write.strategy} would drop the rest: "
            "write by key, with merge or insert_new"
        )
        yield Complaint((*at, "write", "strategy"), sentence)
    if task.is_incremental and getattr(task.source, "window_column", None) is not None:
        sentence = "an incremental source reads from its watermark on, not by window: drop it"
        yield Complaint((*at, "source", "window_column"), sentence, True)
    if write.is_keyed:
        yield from _check_keyed(pipeline, task, at)


def _check_keyed(pipeline: PipelineSpec, task: TaskSpec, at: KeyPath) -> Iterator[Complaint]:
    write, strategy = task.write, (*at, "write", "strategy")
    if not write.keys:
        sentence = f"{write.strategy} needs 'key: [columns]' from the source, or a hash_key for rows without an id"
        yield Complaint(strategy, sentence)
    if write.key and write.hash_key is not None:
        yield Complaint((*at, "write", "hash_key"), "makes a key where there is none: give it or 'key', not both", True)
    if write.strategy == "merge" and not write.version_by:
        sentence = "merge needs 'version_by: [columns]', which say which of two rows is newer"
        yield Complaint(strategy, sentence)
    if write.strategy == "merge" and "tombstones" in write.model_fields_set and write.delete_when is None:
        yield Complaint((*at, "write", "tombstones"), "nothing is deleted without delete_when: drop it", True)
    if write.version_by and {n.lower() for n in write.version_by} <= {n.lower() for n in write.keys}:
        sentence = "rows of one key are all alike in the key's own columns: name what tells the newer one"
        yield Complaint((*at, "write", "version_by"), sentence)
    if pipeline.schedule is None and not task.is_incremental:
        sentence = (
            f"{write.strategy} needs a schedule, such as schedule: {{every: day, start: 2026-04-01}}, "
            "or an incremental source"
        )
        yield Complaint(strategy, sentence)
    if WINDOW_COLUMN in (name.lower() for name in task.target.partition_by):
        sentence = (
            f"{WINDOW_COLUMN} says which run wrote a row last, and says nothing about its key: name other columns"
        )
        yield Complaint((*at, "target", "partition_by"), sentence)
    yield from _check_own_columns(task, at)


def _check_own_columns(task: TaskSpec, at: KeyPath) -> Iterator[Complaint]:
    """A run's own columns say how a row came here, not which row it is."""
    write, hash_key = task.write, task.write.hash_key
    used: list[tuple[KeyPath, str]] = [(("key",), name) for name in write.key]
    used += [(("version_by",), name) for name in write.version_by]
    if hash_key is not None:
        used += [(("hash_key", "of"), name) for name in hash_key.of]
        if hash_key.column.lower() in (WINDOW_COLUMN, *(name.lower() for name in hash_key.of)):
            sentence = "must be a new name: neither one of Samewise's own nor one of those that it is made of"
            yield Complaint((*at, "write", "hash_key", "column"), sentence)
    for path, name in used:
        if name.lower() == WINDOW_COLUMN:
            yield Complaint((*at, "write", *path), f"{WINDOW_COLUMN} says which run loaded a row, not which row it is")
        elif name.lower() == _FILE_METADATA:
            sentence = "_metadata tells about the file, and the same row may come in another one"
            yield Complaint((*at, "write", *path), sentence)


def check_source_columns(task: TaskSpec, declared: Schema, at: KeyPath) -> Iterator[Complaint]:
    """The columns of the source that `dedup` names, which a transform cannot change."""
    if task.dedup is not None:
        for key, names in (("key", task.dedup.key), ("version_by", task.dedup.version_by)):
            for name in names:
                yield from check_comparable(declared, name, (*at, "dedup", key))


def check_result_columns(task: TaskSpec, declared: Schema, at: KeyPath) -> Iterator[Complaint]:
    """The columns that the target gets, where these are the declared ones."""
    write, hash_key = task.write, task.write.hash_key
    for key, names in (("key", write.key), ("version_by", write.version_by)):
        for name in names:
            if hash_key is None or name.lower() != hash_key.column.lower():
                yield from check_comparable(declared, name, (*at, "write", key))
    if hash_key is not None:
        if declared.get(hash_key.column) is not None:
            path = (*at, "write", "hash_key", "column")
            yield Complaint(path, f"the schema has a column '{hash_key.column}' already: choose a new name")
        for name in hash_key.of:
            yield from _check_hashable(declared, name, (*at, "write", "hash_key", "of"))
    if write.dedup_horizon is not None:
        path = (*at, "write", "dedup_horizon", "column")
        column = declared.get(write.dedup_horizon.column)
        if column is None:
            yield missing_column(declared, write.dedup_horizon.column, path)
        elif column.type not in _TIMES:
            yield Complaint(path, f"must be a date, timestamp or timestamp_ntz, and '{column.name}' is {column.type}")
    for index, rule in enumerate(task.expect):
        if rule.change is not None and rule.change.column is not None:
            yield from _check_summable(declared, rule.change.column, (*at, "expect", index))


def check_comparable(declared: Schema, name: str, path: KeyPath) -> Iterator[Complaint]:
    """A column must be there, and two of its values must be comparable."""
    column = declared.get(name)
    if column is None and name.lower() not in (WINDOW_COLUMN, _FILE_METADATA):
        yield missing_column(declared, name, path)
    elif column is not None and not is_comparable(column.type):
        yield Complaint(path, f"'{name}' is {column.type}, and two of these cannot be compared")


def _check_hashable(declared: Schema, name: str, path: KeyPath) -> Iterator[Complaint]:
    column = declared.get(name)
    if column is None:
        yield missing_column(declared, name, path)
    elif canonical_text(column) is None:
        yield Complaint(path, f"'{name}' is {column.type}, which has no one way to be written down")


def _check_summable(declared: Schema, name: str, path: KeyPath) -> Iterator[Complaint]:
    column: Column | None = declared.get(name)
    if column is None:
        yield missing_column(declared, name, path)
    elif not _SUMMABLE.fullmatch(column.type):
        sentence = f"change needs a column of whole numbers or decimals, and '{name}' is {column.type}"
        yield Complaint(path, sentence)


def missing_column(declared: Schema, name: str, path: KeyPath) -> Complaint:
    """`the schema has no column 'amont', did you mean 'amount'?`"""
    meant = closest(name, declared.names)
    hint = f", did you mean '{meant}'?" if meant else f"; there are {listed(declared.names)}"
    return Complaint(path, f"the schema has no column '{name}'{hint}")
