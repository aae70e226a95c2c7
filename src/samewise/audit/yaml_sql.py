"""SQL in YAML: tasks of DAGs that are written down as configuration, and the hooks of dbt projects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from samewise.audit.facts import Context, Flow, Retry, SqlOp, Task
from samewise.audit.finding import Place
from samewise.audit.sql.dialect import guess
from samewise.audit.sql.script import operations, statements_of
from samewise.audit.sql.statement import Statement
from samewise.audit.sql.template import fill
from samewise.audit.sql.words import Text

if TYPE_CHECKING:
    import yaml

_WRITES = re.compile(
    r"\b(INSERT\s+(INTO|OVERWRITE)|MERGE\s+INTO|DELETE\s+FROM|TRUNCATE|COPY\s|UPDATE\s)",
    re.IGNORECASE,
)
_KEYS = re.compile(r"^(sql|query|queries|bql|hql|(sql_)?statements?|(pre|post)[_-]hook|on[_-]run[_-](start|end))$")
_TASK = re.compile(r"operator|io\.kestra|plugin|jdbc|^sql$|bigquery|snowflake|postgres|redshift", re.IGNORECASE)
"""What a task says of itself, under `operator`, `type` or `task`."""
_TOLD = re.compile(r"[^;]*?\b(INTO|FROM|TABLE|TRUNCATE|UPDATE)\s+\{\{\s*\w+\s*\}\}", re.IGNORECASE)
_DIALECTS = ("bigquery", "snowflake", "redshift", "postgres", "mysql", "databricks", "trino", "hive", "athena")
_TOLD_BY = frozenset({"operator", "type", "task", "task_id", "id", "retries"})
_LARGEST = 200_000
"""A person writes less; what a tool writes is data."""

Around = dict[str, tuple[str, int]]
"""The plain values of the mappings around a text, the nearest first: (value, line)."""


def read_yaml(text: str, context: Context) -> list[Flow]:
    """A flow for each key under which a task or a hook runs SQL; none where the YAML cannot be read."""
    if len(text) > _LARGEST or not _WRITES.search(text) or re.search(r"^pipeline:", text, re.MULTILINE):
        return []  # A `pipeline:` is one of Samewise's own.
    import yaml

    try:
        # Not the loader in C: deep nesting kills it, and with it the whole process.
        roots = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
        found = [one for root in roots if root is not None for one in _texts(root, set(), {})]
    except (yaml.YAMLError, RecursionError, ValueError):
        return []  # Not ours to judge: whoever runs it will tell.
    return [_flow(nodes, around, context) for nodes, around in found if any(_WRITES.search(one.value) for one in nodes)]


def _texts(node: yaml.Node, seen: set[int], around: Around) -> Iterator[tuple[list[yaml.ScalarNode], Around]]:
    """The texts under one key, which run one after the other, with what stands around them."""
    import yaml

    if id(node) in seen:
        return  # An anchor that is used again is read once.
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for one in node.value:
            yield from _texts(one, seen, around)
    elif isinstance(node, yaml.MappingNode):
        here = dict(around)
        for key, value in node.value:
            if isinstance(value, yaml.ScalarNode) and isinstance(key, yaml.ScalarNode) and key.value in _TOLD_BY:
                here[key.value] = (value.value, value.start_mark.line + 1)
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
            if _KEYS.match(name.lower()):
                texts = value.value if isinstance(value, yaml.SequenceNode) else [value]
                yield [one for one in texts if isinstance(one, yaml.ScalarNode)], here
            yield from _texts(value, seen, {**here, "<key>": (name, 0)})


def _flow(nodes: list[yaml.ScalarNode], around: Around, context: Context) -> Flow:
    kind = " ".join(around[key][0] for key in ("operator", "type", "task") if key in around)
    texts = [fill(node.value) for node in nodes]
    dialect = next((one for one in _DIALECTS if one in kind.lower()), "") or guess("\n".join(texts))
    flow = Flow(context, name="<yaml>", dialect=dialect)
    flow.task = _task(around, nodes[0]) if _TASK.search(kind) else None
    for node, text in zip(nodes, texts, strict=True):
        statements = statements_of(text, dialect)
        for op in operations(statements, text, _placed(node, text), via="operator", implicit=False, sure=False):
            assert isinstance(op, SqlOp)
            op.task = flow.task
            # Whether all of them are one transaction is the operator's affair.
            op.tx = op.tx or ("yaml", nodes[0].start_mark.line)
            op.raw = node.value[op.statement.start : op.statement.start + len(op.statement.text)]
            op.told = _TOLD.match(op.raw) is not None
            flow.ops.append(op)
    return flow


def _placed(node: yaml.ScalarNode, text: str) -> Callable[[Statement], Place]:
    at, first = Text(text), node.start_mark.line + 1

    def placed(statement: Statement) -> Place:
        if node.style != "|":
            return Place(first, 1, node.end_mark.line + 1, 0)  # Its lines are folded.
        line, _ = at.place(statement.start)
        end, _ = at.place(statement.start + len(statement.text))
        return Place(first + line, 1, first + end, 0)

    return placed


def _task(around: Around, node: yaml.ScalarNode) -> Task:
    name = next((around[key][0] for key in ("task_id", "id", "<key>") if key in around), "")
    retries, line = around.get("retries", ("0", 0))
    count = int(retries) if retries.isdigit() else 0
    retry = Retry(Place(line), f"retries: {count}", count) if count else None
    return Task(name, Place(node.start_mark.line + 1), retry=retry)
