"""DataFrames that are written: SW101, SW203, SW204."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samewise.audit.facts import Flow, FrameOp, SqlOp, exclude
from samewise.audit.finding import Finding, Fix, Level
from samewise.audit.rules.base import found, last_part, named, swap
from samewise.audit.rules.shared import above, by_key, cleared_before, is_staging, quiet
from samewise.audit.sql.guards import own_guard
from samewise.audit.sql.statement import is_ledger, is_log, is_scratch, same_table

_TABLE_FORMATS = frozenset({"delta", "iceberg", "hudi"})
_CONNECTOR = re.compile(
    r"^$|delta|iceberg|parquet|orc|avro|csv|json|text|xml|excel|hive|jdbc|bigquery|snowflake|redshift|sqldw|synapse|sqlserver"
    r"|postgres|mysql|oracle|clickhouse|teradata|vertica|paimon|jj_"
)
"""What is known to add rows in mode append. Of other connectors it is not known what they do."""
_OF_A_RUN = re.compile(r"^_?(run|batch|load|job)_?id$")
"""Rows that wait in a staging table and say which run brought them can be told apart."""
_PLAIN = frozenset({"parquet", "orc", "avro"})


def append(flow: Flow) -> Iterator[Finding]:
    """SW101: rows are appended, and nothing keeps a second run from appending them again."""
    if quiet(flow):
        return
    for op in flow.ops:
        if isinstance(op, FrameOp) and op.mode in ("append", "unknown") and not flow.batch:
            yield from _appended(flow, op)
        elif isinstance(op, SqlOp) and op.statement.kind == "copy":
            yield from _copied(flow, op)


def _appended(flow: Flow, op: FrameOp) -> Iterator[Finding]:
    if is_scratch(op.target) or is_log(op.target) or op.frame.anti or above(op, op.target) in ("key", "check"):
        return
    if any(same_table(table, op.target) for table in op.frame.asked) or _first_replaces(flow, op):
        return  # It goes on from what the target holds, or from what the first turn of the loop has put there.
    if {"txnappid", "txnversion"} & {name.lower() for name in op.options}:
        return
    if op.format in ("console", "memory", "noop", "kafka") or op.format == "hudi" or op.keys or by_key(op):
        return
    cleared = cleared_before(flow, op)
    if cleared is not None and cleared.sure:
        return
    unsure = not op.sure or op.mode == "unknown" or cleared is not None or above(op, op.target) == "maybe"
    unsure = unsure or (op.lib == "spark" and _CONNECTOR.search(op.format) is None) or op.told
    unsure = (
        unsure or flow.context.web or _mode_is_chosen(flow, op) or any(is_ledger(table) for table in op.frame.asked)
    )
    where = named(op.target, "its target")
    if op.mode == "unknown":
        message = f"how {where} is written is decided elsewhere: if that says append, a second run adds the rows again"
    elif unsure:
        message = f"{op.method} may append to {where} what is there already: what keeps it from that is not clear"
    else:
        message = f"{op.method} appends to {where}: a second run adds the same rows again"
    level = Level.WARNING if op.format in ("csv", "json", "text") else Level.ERROR
    yield found(
        "SW101",
        op,
        level,
        message,
        _append_fix(flow, op),
        unsure=unsure,
        target=op.target,
        enforced=op.lib == "pandas" or op.format == "jdbc",
    )


def _first_replaces(flow: Flow, op: FrameOp) -> bool:
    """for chunk in chunks: the first one replaces the table, the others are added."""
    return (
        op.loop > 0
        and "*asked" not in op.guards
        and any(
            isinstance(other, FrameOp)
            and other.mode == "overwrite"
            and other.loop == op.loop
            and exclude(op, other)
            and same_table(other.target, op.target)
            for other in flow.ops
        )
    )


def _mode_is_chosen(flow: Flow, op: FrameOp) -> bool:
    """The other arm of `if mode == ...` replaces the same target: whoever calls it says which."""
    return "*chosen" in op.guards and any(
        isinstance(other, FrameOp)
        and other.mode in ("overwrite", "replace", "merge")
        and exclude(op, other)
        and same_table(other.target, op.target)
        for other in flow.ops
    )


def _append_fix(flow: Flow, op: FrameOp) -> Fix:
    target = named(op.target, "the target")
    if op.mode == "unknown":
        return Fix(f"where append is asked for, {target} needs a key (MERGE) or a window that is replaced (overwrite)")
    column = op.partition_by[0] if op.partition_by else "<window column>"
    if op.lib == "spark":
        if op.format and op.format not in _TABLE_FORMATS:
            return Fix(
                f"write {target} as Delta and replace the window:"
                f' .mode("overwrite").option("replaceWhere", "{column} = ...")'
            )
        where = f"{column} = '<the day that is loaded>'"
        edits = swap(
            flow.context,
            op.place,
            r"\.mode\(\s*[\"']append[\"']\s*\)",
            lambda _: f'.mode("overwrite").option("replaceWhere", "{where}")',
        )
        return Fix(
            f'replace the window in one commit: .mode("overwrite").option("replaceWhere", "{where}");'
            f" or MERGE into {target} by key",
            edits,
        )
    if op.lib == "pandas":
        con = op.con or "engine"
        frame = op.var or "df"
        return Fix(
            f"with {con}.begin() as connection: DELETE FROM {target} WHERE <the window>, then"
            f" {frame}.to_sql(..., con=connection);"
            " or to_sql into a staging table and INSERT ... ON CONFLICT from there"
        )
    if op.lib == "bigquery":
        return Fix(
            f"WRITE_TRUNCATE into one partition ({last_part(target)}$YYYYMMDD), or load a staging table and MERGE"
        )
    if op.lib == "files":
        return Fix("write the file anew (mode 'w') under a name that the window decides")
    return Fix(f"load a staging table and MERGE it into {target} by key, or replace the window in one transaction")


def _copied(flow: Flow, op: SqlOp) -> Iterator[Finding]:
    statement = op.statement
    if (
        own_guard(statement)
        or is_scratch(statement.target)
        or is_log(statement.target)
        or above(op, statement.target) in ("key", "check")
    ):
        return
    cleared = cleared_before(flow, op)
    if cleared is not None and cleared.sure:
        return
    if op.via == "file" and re.search(r"FROM STDIN", statement.flat) and "FORMAT" not in statement.flat:
        return  # A dump: restored once, into an empty database.
    target = statement.target
    unsure = cleared is not None or above(op, target) == "maybe" or op.told or flow.context.web
    unsure = unsure or (is_staging(target) and any(_OF_A_RUN.search(column) for column in statement.columns))
    yield found(
        "SW101",
        op,
        Level.ERROR,
        f"{statement.uppers[0]} appends to {named(target)}: a second run adds the same rows again",
        Fix(
            f"COPY into a temporary table, then INSERT INTO {named(target)} ... ON CONFLICT (or"
            f" MERGE) from it; or DELETE the window in the same transaction"
        ),
        unsure=unsure,
        target=target,
        columns=statement.columns,
        enforced=(statement.dialect or flow.dialect) != "redshift",
    )


def plain_overwrite(flow: Flow) -> Iterator[Finding]:
    """SW203: plain files are overwritten; the old ones go before the new ones are there."""
    if quiet(flow):
        return
    for op in flow.ops:
        if not isinstance(op, FrameOp) or op.lib != "spark" or op.mode != "overwrite" or op.dynamic:
            continue
        if op.format not in _PLAIN or is_scratch(op.target):
            continue
        if re.search(r"tmp|temp|stag|_stg|stg_|scratch", f"{op.target} {op.scope} {flow.context.file}".lower()):
            continue
        edits = swap(flow.context, op.place, rf"\.{op.format}\(", '.format("delta").save(')
        if not edits:
            edits = swap(flow.context, op.place, rf"\.format\(\s*[\"']{op.format}[\"']\s*\)", '.format("delta")')
        yield found(
            "SW203",
            op,
            Level.WARNING,
            f"overwriting {op.format} files deletes {named(op.target, 'the old ones')} before the new ones are written:"
            " a failure in between leaves a part, or nothing",
            Fix('write Delta or Iceberg (.format("delta")): readers see the old or the new', edits),
            unsure=not op.sure or op.told,
            target=op.target,
        )


def dynamic_overwrite(flow: Flow) -> Iterator[Finding]:
    """SW204: only partitions that the result has are replaced; one that became empty keeps its old rows."""
    if quiet(flow):
        return
    for op in flow.ops:
        if isinstance(op, FrameOp) and op.dynamic and op.mode == "overwrite" and not op.frame.checked_empty:
            column = op.partition_by[0] if op.partition_by else "<partition column>"
            edits = swap(
                flow.context,
                op.place,
                r"\.option\(\s*[\"']partitionOverwriteMode[\"']\s*,\s*[\"']dynamic[\"']\s*\)",
                f""".option("replaceWhere", "{column} = '<the day that is loaded>'")""",
            )
            yield found(
                "SW204",
                op,
                Level.WARNING,
                f"dynamic overwrite replaces only partitions that the result has: a day of"
                f" {named(op.target)} that became empty keeps its old rows",
                Fix(
                    f"""overwrite by predicate: .option("replaceWhere", "{column} = '...'") clears the day"""
                    " even if nothing is left of it",
                    edits,
                ),
                unsure=not op.sure or op.told,
                target=op.target,
            )
        elif isinstance(op, SqlOp) and op.statement.kind == "overwrite" and "dynamic" in op.statement.modifiers:
            column = op.statement.partition_text.split(",")[-1].strip() or "<partition column>"
            edits = (
                swap(flow.context, op.place, r"PARTITION\s*\([^)]*\)", f"PARTITION ({column} = '{{{{ ds }}}}')")
                if op.via == "file"
                else ()
            )
            yield found(
                "SW204",
                op,
                Level.WARNING,
                f"INSERT OVERWRITE with a dynamic partition replaces only partitions that the result"
                f" has: one of {named(op.statement.target)}"
                " that became empty keeps its old rows",
                Fix(
                    f"name the partition: PARTITION ({column} = <value>), or on Delta INSERT INTO ..."
                    f" REPLACE WHERE {column} = <value>",
                    edits,
                ),
                target=op.statement.target,
            )
