"""Connections, cursors, engines and hooks: which SQL they run, and in which transaction."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samewise.audit.facts import ANY, ClearOp
from samewise.audit.python.connections import engine_call, hook_call, library, table_name
from samewise.audit.python.statements import (
    _SELECT,
    BOUND,
    MANY,
    bounds_of,
    conn_of,
    execute,
    is_write,
    run_made_up,
    run_sql,
)
from samewise.audit.python.values import (
    Conn,
    Const,
    FrameV,
    Handle,
    Ref,
    Seq,
    Str,
    Value,
    merged,
    text_of,
    unknown,
)

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_EXECUTES = frozenset(
    {
        "execute",
        "executescript",
        "exec_driver_sql",
        "execute_async",
        "execute_string",
        "raw_sql",
        "exec",
        "mogrify_execute",
    }
)
_FETCHES = frozenset(
    {
        "fetchone",
        "fetchall",
        "fetchmany",
        "fetchval",
        "fetchrow",
        "scalar",
        "scalar_one",
        "scalar_one_or_none",
        "first",
        "one",
        "one_or_none",
        "scalars",
        "all",
        "mappings",
        "to_dataframe",
        "result",
        "collect",
        "fetch_pandas_all",
        "fetchdf",
    }
)


_SCRIPT = re.compile(r"^read(_text)?$|(^|_)(schema|ddl|create|init|reset|drop|setup|truncate|delete|clear|clean)(_|$)")
"""SQL from elsewhere that may well empty tables, or make them."""


def _is_true(value: Value) -> bool:
    return isinstance(value, Const) and value.value is True


def attribute(run: Interpreter, owner: Value, name: str, node: ast.AST) -> Value | None:
    """`hook.conn`, `session.connection`."""
    if isinstance(owner, Handle) and owner.kind in ("engine", "hook") and name in ("connection", "conn"):
        return Handle(kind="connection", conn=conn_of(run, owner))
    return None


def call(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """Calls on databases."""
    if isinstance(owner, Ref):
        made = library(run, node, owner, name, args, kwargs)
        if made is not None:
            return made
    if isinstance(owner, Handle) and owner.kind in ("consumer", "producer", "http", "spark", "delta", "iceberg"):
        return None
    if isinstance(owner, Handle) and owner.kind == "table" and name == "insert":
        return Handle(kind="insert", data={"table": owner.name, "guard": False, "select": False})
    if isinstance(owner, Handle) and owner.kind == "table" and name == "delete":
        return Handle(kind="delete", data={"table": owner.name})
    if isinstance(owner, Handle) and owner.kind == "delete":
        return owner
    if isinstance(owner, Handle) and owner.kind == "insert":
        return _construct(run, owner, name, args)
    if isinstance(owner, Handle) and owner.kind == "hook":
        made = hook_call(run, node, owner, name, args, kwargs)
        if made is not None:
            return made
    if isinstance(owner, Handle) and owner.kind == "engine":
        made = engine_call(run, node, owner, name, args, kwargs)
        if made is not None:
            return made
    if isinstance(owner, Handle) and owner.kind == "ormquery":
        if name in ("filter", "filter_by", "where", "join", "options", "with_for_update", "order_by"):
            return owner
        if name == "delete":
            run_made_up(run, node, f"DELETE FROM {owner.name} WHERE jj_window_", owner.conn, many=False)
            return Const(value=None)
    if (
        name == "query"
        and args
        and args[0].name
        and not isinstance(args[0], Str | Const)
        and (any(one.startswith("sqlalchemy") for one in run.imports) or _is_model(owner, args[0]))
    ):
        model = table_name(args[0])
        return Handle(asked=frozenset({model}), name=model, conn=conn_of(run, owner), kind="ormquery")
    match name:
        case "cursor":
            return Handle(kind="cursor", conn=conn_of(run, owner))
        case "commit":
            conn_of(run, owner).commit()
            return Const(value=None)
        case "transaction" | "begin" | "begin_nested" | "atomic" | "begin_transaction":
            return Handle(
                kind="transaction",
                conn=conn_of(run, owner),
                data={"gives": owner, "fresh": not conn_of(run, owner).block},
            )
        case "acquire" if "asyncpg" in run.imports:
            # A connection of asyncpg commits each statement, unless it is in `conn.transaction()`.
            return Handle(kind="connection", conn=Conn("auto", "postgres"))
        case "set_session" if "autocommit" in kwargs:
            conn_of(run, owner).autocommit = _is_true(kwargs["autocommit"])
            return Const(value=None)
        case "set_isolation_level":
            first = args[0] if args else None
            conn_of(run, owner).autocommit = (isinstance(first, Const) and first.value == 0) or (
                isinstance(first, Ref) and first.last.endswith("AUTOCOMMIT")
            )
            return Const(value=None)
        case "execution_options" if "isolation_level" in kwargs:
            conn_of(run, owner).autocommit = (text_of(kwargs["isolation_level"]) or "").upper() == "AUTOCOMMIT"
            return owner
        case "copy_from" | "copy_to" if name == "copy_from" and len(args) >= 2:
            table = text_of(args[1])
            if table is not None:
                run_made_up(run, node, f"COPY {table} FROM STDIN WITH (FORMAT csv)", conn_of(run, owner), many=True)
            return Const(value=None)
        case "copy_records_to_table" | "copy_to_table" if args and text_of(args[0]) is not None:
            table = text_of(args[0])
            run_made_up(run, node, f"COPY {table} FROM STDIN WITH (FORMAT csv)", conn_of(run, owner), many=True)
            return Const(value=None)
        case "drop_all":
            run.add(ClearOp(run.place(node), target=ANY, sure=False))
            return Const(value=None)
        case "bulk_create" if isinstance(node.func, ast.Attribute) and "objects" in ast.unparse(node.func.value):
            _bulk_create(run, node, kwargs)
            return Value()
        case "copy_expert" | "copy" if args or kwargs:
            text = args[0] if args else kwargs.get("sql")
            if isinstance(text, Str) and re.match(r"\s*COPY\b", text.text, re.IGNORECASE):
                execute(run, node, text, conn_of(run, owner), via="execute", many=True)
                return Handle(kind="copy", conn=conn_of(run, owner))
    if name in _FETCHES and not isinstance(owner, FrameV):
        if owner.asked or owner.conn is not None:
            return Value(owner.tags, owner.asked, name)
        return None
    if name == "command" and args and isinstance(args[0], Str) and "clickhouse_connect" in run.imports:
        return run_sql(run, node, args[0], Conn("auto", "clickhouse"), via="execute", many=False)
    if name in _EXECUTES or name in MANY:
        return _executed(run, node, owner, name, args, kwargs)
    if name in ("add", "add_all") and args and "sqlalchemy" in {one.partition(".")[0] for one in run.imports}:
        return _added(run, node, owner, args[0])
    if name in ("bulk_insert_mappings", "bulk_save_objects") and args:
        table = table_name(args[0]) if name == "bulk_insert_mappings" else "mapped_table"
        if "param" not in args[0].tags:
            rows = Str(asked=bounds_of(args), text=f"INSERT INTO {table or 'x'} (id) VALUES (1)", exact=False)
            execute(run, node, rows, conn_of(run, owner), via="execute", many=True)
        return Const(value=None)
    if (
        name == "query"
        and args
        and isinstance(args[0], Str)
        and (is_write(args[0].text) or _SELECT.match(args[0].text))
        and not _has_destination(kwargs.get("job_config"))
    ):
        conn = owner.conn or Conn("auto", "bigquery" if "bigquery" in owner.name else "")
        return run_sql(run, node, args[0], conn, via="execute", many=False)
    return None


def _is_model(owner: Value, given: Value) -> bool:
    """session.query(Customer), where the session came from another module."""
    return (
        isinstance(given, Ref) and given.last[:1].isupper() and re.search(r"session|(^|_)db$", owner.name) is not None
    )


def _added(run: Interpreter, node: ast.Call, owner: Value, given: Value) -> Value | None:
    """session.add(Model(...)) for each row, session.add_all([Model(...) for ...]): only in what moves data in bulk."""
    first = node.args[0]
    if isinstance(first, ast.ListComp | ast.GeneratorExp):
        first = first.elt
    model = first.func.id if isinstance(first, ast.Call) and isinstance(first.func, ast.Name) else ""
    in_bulk = run.loop > 0 or first is not node.args[0]
    if not model[:1].isupper() or not in_bulk or not (run.context.pipeline or run.task is not None):
        return None
    text = f"INSERT INTO {table_name(Value(name=model))} (id) VALUES (1)"
    asked = bounds_of([given])
    execute(run, node, Str(asked=asked, text=text, exact=False), conn_of(run, owner), via="execute", many=True)
    return Const(value=None)


def _has_destination(config: Value | None) -> bool:
    """BigQuery: what the query gives is written to a table."""
    return isinstance(config, Handle) and config.kind == "jobconfig" and bool(config.data.get("destination"))


def _bulk_create(run: Interpreter, node: ast.Call, kwargs: dict[str, Value]) -> None:
    """Django. The model, and whether it has a unique key, lie in another file: that is never more than a note."""
    if _is_true(kwargs.get("ignore_conflicts", Value())) or _is_true(kwargs.get("update_conflicts", Value())):
        return
    assert isinstance(node.func, ast.Attribute)
    model = ast.unparse(node.func.value).partition(".objects")[0].rpartition(".")[2].lower()
    text = Str(text=f"INSERT INTO {model} (id) VALUES (1)", exact=False)
    execute(run, node, text, None, via="helper", many=True)


def _construct(run: Interpreter, owner: Handle, name: str, args: list[Value]) -> Value:
    """insert(table).values(...).on_conflict_do_update(...)"""
    if name.startswith(("on_conflict", "on_duplicate", "prefix_with")):
        owner.data["guard"] = True
    elif name == "from_select":
        owner.data["select"] = True
    return owner


def _executed(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    first = (
        args[0]
        if args
        else kwargs.get("sql") or kwargs.get("statement") or kwargs.get("query") or kwargs.get("operation")
    )
    conn = conn_of(run, owner) if not isinstance(owner, Ref) else None
    if name in MANY and isinstance(owner, Ref) and len(args) >= 2:
        return None
    if isinstance(first, Handle) and first.kind == "insert":
        many = len(args) > 1 or bool(first.data["select"])
        tail = " ON CONFLICT DO NOTHING" if first.data["guard"] else ""
        body = "SELECT * FROM jj_source_" if first.data["select"] else "(id) VALUES (1)"
        text = Str(asked=bounds_of(args[1:]), text=f"INSERT INTO {first.data['table']} {body}{tail}", exact=False)
        execute(run, node, text, conn, via="execute", many=many)
        return Value()
    if isinstance(first, Handle) and first.kind == "delete":
        run_made_up(run, node, f"DELETE FROM {first.data['table']} WHERE jj_window_", conn, many=False)
        return Value()
    if isinstance(first, Str):
        rows = args[1] if len(args) > 1 else None
        one = isinstance(rows, Seq) and rows.exact and len(rows.items) <= 1
        many = (name in MANY and not one) or (isinstance(rows, Seq) and _is_rows(rows))
        _, given = merged(args[1:])
        made = run_sql(run, node, first, conn, via="execute", many=many, given=bounds_of(args[1:]) if many else given)
        if not isinstance(owner, Ref):
            # A cursor is asked for the rows afterwards.
            owner.asked = made.asked
            owner.tags = frozenset(t for t in owner.tags if not t.startswith(BOUND)) | made.tags
        return made
    if first is None:
        return None
    if _SCRIPT.search(first.name):
        run.add(ClearOp(run.place(node), target=ANY, sure=False))
    return unknown(owner, first, name=name)


def _is_rows(value: Seq) -> bool:
    """A list of dicts or tuples: SQLAlchemy runs the statement for each."""
    return not value.exact and bool(value.items) and type(value.items[0]).__name__ in ("Map", "Seq")
