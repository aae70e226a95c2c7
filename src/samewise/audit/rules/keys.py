"""Keys and order: SW301 to SW306."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samewise.audit.facts import Flow, Frame, FrameOp, ModelOp, Op, SqlOp, StreamOp
from samewise.audit.finding import Edit, Finding, Fix, Level, Place
from samewise.audit.rules.base import found, named, swap
from samewise.audit.rules.places import word_place
from samewise.audit.rules.shared import guard_of, quiet
from samewise.audit.sql.inside import generated_keys
from samewise.audit.sql.names import are_offsets, is_processing_time
from samewise.audit.sql.statement import Statement, is_scratch
from samewise.audit.sql.uniqueness import conflict_columns, merge_keys, merge_source, uniqueness

_MAKERS = r"gen_random_uuid|generate_uuid|uuid_string|newid|uuid_generate_v4|nextval"
_RAW = re.compile(r"raw|landing|event|cdc|change|kafka|bronze|_log|inbound|feed|ingest")


def merge_duplicates(flow: Flow) -> Iterator[Finding]:
    """SW301: a MERGE whose source can hold a key twice."""
    if quiet(flow):
        return
    known: dict[str, str] = {}
    for name, frame in flow.views.items():
        known[name.lower()] = _frame_uniqueness(frame)
    for op in flow.ops:
        if isinstance(op, SqlOp):
            _remember(op.statement, known)
            if op.statement.kind == "merge":
                yield from _sql_merge(flow, op, known)
        elif isinstance(op, FrameOp) and op.mode == "merge":
            yield from _frame_merge(flow, op)


def _remember(statement: Statement, known: dict[str, str]) -> None:
    """What a table or view that is made here holds."""
    from sqlglot import exp

    if statement.kind not in ("ctas", "view", "insert", "overwrite"):
        return
    if not re.search(r"ROW_NUMBER|GROUP BY|DISTINCT|QUALIFY|RANK|VALUES", statement.flat):
        if statement.target and statement.kind == "ctas":
            known.setdefault(statement.target.rpartition(".")[2], "unknown")
        return
    tree = statement.tree
    if tree is None:
        return
    name = tree.find(exp.Table)
    ctes = {cte.alias.lower(): cte.this for cte in tree.find_all(exp.CTE)}
    body = tree.args.get("expression")
    if name is not None and body is not None:
        known[name.name.lower()] = uniqueness(body, ctes, known)


def _frame_uniqueness(frame: Frame) -> str:
    if frame.dedup is not None:
        return "unique"
    return "repeats" if frame.raw else "unknown"


def _sql_merge(flow: Flow, op: SqlOp, known: dict[str, str]) -> Iterator[Finding]:
    status, name = merge_source(op.statement, known)
    keys = merge_keys(op.statement) or ("key",)
    if status == "unique" or _made_keys(flow, op):
        return
    target = op.statement.target
    sure = status == "repeats" or (_RAW.search(name) is not None and known.get(name) != "unique")
    sources = [s for s in op.statement.sources if s not in op.statement.ctes]
    sure = sure or any(_RAW.search(s.rpartition(".")[2]) for s in sources[:1])
    key = ", ".join(keys)
    edits: tuple[Edit, ...] = ()
    if op.via == "file":
        edits = swap(
            flow.context,
            op.place,
            r"USING\s+([\w.`\"]+)(\s+(?:AS\s+)?\w+)?(\s+ON\b)",
            lambda m: (
                f"USING (\n  SELECT * FROM {m[1]}\n  QUALIFY ROW_NUMBER() OVER (PARTITION BY {key}"
                f" ORDER BY version_column DESC, tie_breaker) = 1\n){m[2] or ' AS s'}{m[3]}"
            ),
        )
    yield found(
        "SW301",
        op,
        Level.WARNING,
        f"the source of MERGE INTO {named(target)} can hold the same {key} twice: the first run inserts"
        f" both, the next one fails on them",
        Fix(
            f"keep one row of each key first: QUALIFY ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY"
            f" <version> DESC, <tie breaker>) = 1",
            edits,
        ),
        unsure=not sure,
        target=target,
    )


def _made_keys(flow: Flow, op: SqlOp) -> dict[str, tuple[str, Place]]:
    """Keys of a MERGE that were made on the way into the view it reads: never twice, and never the same again."""
    found: dict[str, tuple[str, Place]] = {}
    for name, frame in flow.views.items():
        if any(source.rpartition(".")[2] == name.lower() for source in op.statement.sources):
            found.update({key: frame.generated[key] for key in merge_keys(op.statement) if key in frame.generated})
    return found


def _frame_merge(flow: Flow, op: FrameOp) -> Iterator[Finding]:
    frame = op.frame
    if frame.dedup is not None or frame.anti:
        return
    keys = op.keys or ("key",)
    listed = ", ".join(f'"{key}"' for key in keys)
    yield found(
        "SW301",
        op,
        Level.WARNING,
        f"the rows that are merged into {named(op.target)} can hold the same {', '.join(keys)} twice: the"
        f" first run inserts both, the next one fails on them",
        Fix(
            f"keep one row of each key first: a ROW_NUMBER over"
            f" Window.partitionBy({listed}).orderBy(<version>.desc(), <tie breaker>), or"
            f" {op.var or 'df'}.dropDuplicates([{listed}]) where the copies are equal",
            swap(
                flow.context,
                op.place,
                r"\.merge\(\s*(\w+)((?:\.alias\([^)]*\))?)",
                rf".merge(\1.dropDuplicates([{listed}])\2",
            ),
        ),
        unsure=not frame.raw,
        target=op.target,
    )


def generated(flow: Flow) -> Iterator[Finding]:
    """SW302: a key that is another one in every run."""
    if quiet(flow):
        return
    for op in flow.ops:
        if isinstance(op, SqlOp):
            if isinstance(op, ModelOp) and op.config.get("materialized") not in ("table", "incremental"):
                continue
            if op.statement.kind == "merge":
                for name, (made, place) in _made_keys(flow, op).items():
                    yield _generated(flow, op, name, made, op.statement.target, place)
            if (
                op.statement.kind not in ("insert", "overwrite", "ctas", "model")
                or flow.context.web
                or is_scratch(op.statement.target)
            ):
                continue
            guard = guard_of(flow, op) if op.statement.kind == "insert" else ""
            for name, made in generated_keys(op.statement):
                conflict = conflict_columns(op.statement)
                if guard in ("key", "check") and not (conflict and set(conflict) == {name}):
                    continue
                yield _generated(flow, op, name, made, op.statement.target, word_place(op, made))
        elif isinstance(op, FrameOp) and op.mode in ("append", "overwrite", "merge"):
            if op.frame.anti or is_scratch(op.target):
                continue
            for name, (made, place) in op.frame.generated.items():
                if op.mode == "merge" and name not in op.keys:
                    continue
                yield _generated(flow, op, name, made, op.target, place)


def _generated(flow: Flow, op: Op, name: str, made: str, target: str, place: Place) -> Finding:
    spark = isinstance(op, FrameOp)
    good = (
        'F.sha2(F.concat_ws("|", <natural key columns>), 256)' if spark else "md5(concat_ws('|', natural_key_column))"
    )
    typed = rf"(?:{re.escape(made)}|{_MAKERS})"
    pattern = rf"(F\.)?(expr\(\s*[\"'])?\b{typed}\([^()]*\)([\"']\s*\))?"
    edits = swap(flow.context, place, pattern, lambda _: good.replace("<natural key columns>", '"natural_key_column"'))
    return found(
        "SW302",
        op,
        Level.WARNING,
        f"{name} of {named(target)} is made by {made} while the job runs: the same row gets another key in every run",
        Fix(f"derive {name} from what identifies the row: {good}", edits),
        target=target,
        place=place,
    )


def processing_key(flow: Flow) -> Iterator[Finding]:
    """SW303: the time of loading is part of what tells rows apart."""
    if quiet(flow):
        return
    for op, keys, place in _keys(flow):
        late = [name for name in keys if is_processing_time(name)]
        if not late or (len(keys) == 1 and isinstance(op, SqlOp) and op.statement.kind == "merge"):
            continue
        name = late[0]
        yield found(
            "SW303",
            op,
            Level.WARNING,
            f"{name} is the time of loading, and part of the key: every run brings new keys, so"
            f" nothing is ever a duplicate",
            Fix(
                f"take {name} out of the key",
                swap(
                    flow.context,
                    place,
                    rf"\s*,\s*[\"']?(?:\w\.)?{re.escape(name)}[\"']?(?=\s*[\])])|AND\s+\w+\.{re.escape(name)}\s*=\s*\w+\.{re.escape(name)}",
                    "",
                ),
            ),
            place=place,
        )


def offset_key(flow: Flow) -> Iterator[Finding]:
    """SW306: the place in a log as a key."""
    if quiet(flow):
        return
    for op, keys, place in _keys(flow):
        if not keys or not are_offsets(keys):
            continue
        edits = swap(flow.context, place, r"\[[^\]]*offset[^\]]*\]", '["event_id"]') or swap(
            flow.context, place, r"\([^()]*offset[^()]*\)", "(event_id)"
        )
        yield found(
            "SW306",
            op,
            Level.WARNING,
            f"{', '.join(keys)} say where a message lies, not which one it is: sent again it has"
            f" another offset, and a new topic begins at 0",
            Fix("use an id that the producer sets (event_id), or a hash of the payload", edits),
            place=place,
        )


_SURROGATE = re.compile(r"surrogate_key\s*\(\s*\[?([^\])]*)\]?\s*\)\s*-?\}\}\s*(?:as\s+)?(\w+)", re.IGNORECASE)


def _model_keys(op: ModelOp) -> tuple[str, ...]:
    """The unique_key of an incremental model, and what it is made of where dbt_utils makes it."""
    given = op.config.get("unique_key")
    if op.config.get("materialized") != "incremental" or not given:
        return ()
    keys = [str(one).lower() for one in (given if isinstance(given, list) else [given])]
    for columns, name in _SURROGATE.findall(op.raw):
        if name.lower() in keys:
            keys += [part.lower() for part in re.findall(r"['\"](\w+)['\"]", columns)]
    return tuple(keys)


def _keys(flow: Flow) -> Iterator[tuple[Op, tuple[str, ...], Place]]:
    """Every key by which rows are told apart on their way into a write."""
    told: set[Place] = set()
    for op in flow.ops:
        if isinstance(op, ModelOp):
            yield op, _model_keys(op), op.place
        elif isinstance(op, SqlOp):
            if op.statement.kind == "merge":
                yield op, merge_keys(op.statement), op.place
            elif op.statement.kind in ("insert", "values"):
                yield op, conflict_columns(op.statement), op.place
        elif isinstance(op, FrameOp):
            frame = op.frame
            if op.mode == "merge" and op.keys:
                yield op, op.keys, op.place
            if frame.dedup and frame.dedup_place is not None and frame.dedup_place not in told:
                told.add(frame.dedup_place)
                yield op, frame.dedup, frame.dedup_place
        elif isinstance(op, StreamOp) and op.frame.dedup and op.frame.dedup_place is not None:
            yield op, op.frame.dedup, op.frame.dedup_place
