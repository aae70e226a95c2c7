"""One statement: what it does, to which table, and what keeps a second run of it from doing harm."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from samewise.audit.sql.template import clean, is_hole
from samewise.audit.sql.words import Word, bare

if TYPE_CHECKING:
    from sqlglot import exp

TRANSACTION_WORDS = ("TRANSACTION", "TRAN", "WORK", "IMMEDIATE", "EXCLUSIVE", "DEFERRED", "ISOLATION", "READ")


@dataclass(eq=False)
class Statement:
    """A statement and what its words say. `text` is filled: holes have names."""

    words: list[Word]
    text: str
    start: int
    dialect: str
    kind: str = "other"
    target: str = ""
    columns: tuple[str, ...] = ()
    modifiers: frozenset[str] = frozenset()
    """temp, or_replace, if_not_exists, ignore, overwrite, partition, dynamic, ..."""
    sources: tuple[str, ...] = ()
    ctes: frozenset[str] = field(default_factory=frozenset)
    partition_text: str = ""
    """What stands between the parentheses of PARTITION (...)."""
    conditional: str = ""
    """The words of the IF above it, if there is one."""

    @cached_property
    def uppers(self) -> list[str]:
        return [word.upper for word in self.words]

    @cached_property
    def flat(self) -> str:
        """Its words in upper case with one blank between them: for phrases."""
        return " ".join(w.upper or w.text.upper() for w in self.words)

    def has(self, phrase: str) -> bool:
        return f" {phrase} " in f" {self.flat} "

    @property
    def claims(self) -> bool:
        """Adds a row only where none with its key is: ON CONFLICT DO NOTHING, INSERT IGNORE."""
        return self.has("DO NOTHING") or "ignore" in self.modifiers

    @cached_property
    def tree(self) -> exp.Expr | None:
        """sqlglot's tree, or None where it has none. Parsed once, when a rule asks."""
        from samewise.audit.sql.tree import parse

        return parse(self.text, self.dialect)

    @property
    def writes(self) -> bool:
        return self.kind in ("insert", "values", "overwrite", "merge", "ctas", "copy", "upsert", "update")


def table_at(words: list[Word], at: int) -> tuple[str, int]:
    """The table's name that begins at a word, and where it ends; an empty name if there is none."""
    parts: list[str] = []
    while at < len(words):
        word = words[at]
        if word.kind not in ("word", "quoted", "number") or (word.kind == "number" and not parts):
            break
        if word.upper == "IDENTIFIER" and at + 2 < len(words) and words[at + 1].text == "(":
            parts.append(words[at + 2].text.strip("'\"").lower())
            at += 4
        else:
            parts.append(_part(word))
            at += 1
        if at < len(words) and words[at].text == "-" and at + 1 < len(words) and words[at].start == words[at - 1].end:
            # BigQuery's my-project.dataset.table, without quotes.
            parts[-1] += "-" + _part(words[at + 1])
            at += 2
        if at < len(words) and words[at].text == "." and at + 1 < len(words):
            at += 1
            while at < len(words) and words[at].text == ".":
                at += 1
            continue
        break
    return ".".join(parts), at


def behind_alias(words: list[Word], at: int, name: str) -> str:
    """DELETE d FROM dbo.orders AS d: the table that `d` stands for."""
    if at >= len(words) or words[at].upper != "FROM":
        return name
    for index in range(at, len(words)):
        if words[index].upper in ("FROM", "JOIN", ","):
            table, after = table_at(words, index + 1)
            if after < len(words) and words[after].upper == "AS":
                after += 1
            if table and after < len(words) and bare(words[after]) == name:
                return table
    return name


def _part(word: Word) -> str:
    name = bare(word)
    return clean(name) if is_hole(name) else name


def same_table(one: str, other: str) -> bool:
    """Whether two names can mean the same table: `orders` and `public.orders` do."""
    if not one or not other:
        return False
    first, second = one.split("."), other.split(".")
    short = min(len(first), len(second))
    return first[-short:] == second[-short:]


def is_scratch(name: str) -> bool:
    """A table that lives for the session, or is named as one that does."""
    folder, _, last = name.rpartition(".")
    if last.startswith(("#", "@")) or name.startswith("pg_temp"):
        return True
    if folder.rpartition(".")[2].lower() in ("scratch", "sandbox", "playground"):
        return True
    return bool(set(re.split(r"[_\W]+", last)) & {"tmp", "temp", "scratch", "dummy", "test", "backup", "bak"})


_LOGS = frozenset(["log", "logs", "logging", "audit", "audits", "heartbeat", "heartbeats"])
_RUNS = re.compile(
    r"(^|_)(job|etl|dag|task|batch|pipeline|load|run|process|sync|import|execution)_?(runs?|log|logs|history|status|audit"
    r"|stats|metadata|control|metrics|executions?)$|(^|_)schema_(version|migrations?|history)$|^alembic_version$"
    r"|(^|_)(dq|data_?quality|quality|validation|expectations?)_(\w+_)?(results?|metrics?|checks?|scores?|runs?|history)$"
    r"|_dead_letter|_errors?$|(^|_)quarantine|(^|_)rejected|_rejects$"
)


def is_log(name: str) -> bool:
    """A table that tells what happened: a second run is a second thing that happened."""
    last = name.rpartition(".")[2]
    if re.fullmatch(r"csv|jsonl?|txt|tsv", last):
        last = name.rpartition("/")[2]
    return bool(set(re.split(r"[_\W]+", last)) & _LOGS) or _RUNS.search(last) is not None


_LEDGER = re.compile(
    r"ledger|loaded|processed|ingested|manifest|checkpoint|watermark|bookmark|offsets?|control|batch|etl_|_etl|state"
    r"|status|history|log|run|seen|imported|files|dedup|idempot"
)


def is_ledger(name: str) -> bool:
    """A table that remembers what has been loaded."""
    return _LEDGER.search(name.rpartition(".")[2]) is not None


def find_sources(words: list[Word]) -> Iterator[str]:
    """Every table that is read: after FROM, JOIN, USING."""
    for index, word in enumerate(words[:-1]):
        if word.upper in ("FROM", "JOIN", "USING", "APPLY"):
            if word.upper == "FROM" and index and words[index - 1].upper == "DISTINCT":
                continue
            name, _ = table_at(words, index + 1)
            if name and name.upper() not in ("SELECT", "LATERAL", "UNNEST", "VALUES"):
                yield name
