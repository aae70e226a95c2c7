"""Connections, cursors, engines and hooks: which SQL they run, and in which transaction."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samewise.audit.facts import Frame, SqlOp
from samewise.audit.finding import Place
from samewise.audit.python.values import (
    NONE,
    Conn,
    Const,
    FrameV,
    Handle,
    Ref,
    Seq,
    Str,
    Value,
    as_text,
    merged,
    place_of,
    text_of,
    unknown,
)
from samewise.audit.sql.dialect import AUTOCOMMIT, guess
from samewise.audit.sql.script import operations, statements_of
from samewise.audit.sql.statement import Statement
from samewise.audit.sql.template import fill
from samewise.audit.sql.words import Text

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_WRITE = re.compile(
    r"^(\s|--[^\n]*\n|/\*.*?\*/|\(|\{%.*?%\}|\{\{.*?\}\})*(INSERT|MERGE|DELETE|TRUNCATE|DROP|COPY|REPLACE|CREATE|UPSERT|ALTER|RENAME"
    r"|UPDATE|WITH|BEGIN|START|SET|DECLARE|COMMIT|IF|DO|EXEC)\b",
    re.IGNORECASE | re.DOTALL,
)
_SELECT = re.compile(r"^\s*(--[^\n]*\n\s*)*(\(\s*)?(SELECT|WITH)\b", re.IGNORECASE)
_CONNECT = {
    "psycopg2.connect": ("dbapi", "postgres"),
    "psycopg.connect": ("dbapi", "postgres"),
    "pg8000.connect": ("dbapi", "postgres"),
    "redshift_connector.connect": ("dbapi", "redshift"),
    "sqlite3.connect": ("dbapi", "sqlite"),
    "pymysql.connect": ("dbapi", "mysql"),
    "MySQLdb.connect": ("dbapi", "mysql"),
    "mysql.connector.connect": ("dbapi", "mysql"),
    "pyodbc.connect": ("dbapi", ""),
    "pymssql.connect": ("dbapi", "tsql"),
    "cx_Oracle.connect": ("dbapi", "oracle"),
    "oracledb.connect": ("dbapi", "oracle"),
    "vertica_python.connect": ("dbapi", ""),
    "snowflake.connector.connect": ("auto", "snowflake"),
    "duckdb.connect": ("auto", "duckdb"),
    "databricks.sql.connect": ("auto", "databricks"),
    "trino.dbapi.connect": ("auto", "trino"),
    "pyathena.connect": ("auto", "athena"),
    "teradatasql.connect": ("auto", ""),
    "clickhouse_connect.get_client": ("auto", "clickhouse"),
    "asyncpg.connect": ("auto", "postgres"),
    "asyncpg.create_pool": ("auto", "postgres"),
}
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
_MANY = frozenset({"executemany", "execute_values", "execute_batch", "executemany_prepared"})
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
_HOOK = re.compile(
    r"(Postgres|MySql|Snowflake|BigQuery|MsSql|Redshift|RedshiftSQL|Oracle|Jdbc|Sqlite|Odbc|Vertica|Hive\w*|Trino|Presto|Sql|DbApi|ClickHouse|Databricks\w*)Hook$"
)


def conn_of(run: Interpreter, value: Value) -> Conn:
    """The connection behind a value. What came from elsewhere, a cursor and its connection, share one."""
    if value.conn is None:
        if not isinstance(run.flow.conn, Conn):
            run.flow.conn = Conn()
        value.conn = run.flow.conn
        assert isinstance(value.conn, Conn)
    return value.conn


def is_write(text: str) -> bool:
    return _WRITE.match(text[:4000]) is not None


def is_select(text: str) -> bool:
    return _SELECT.match(text) is not None


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
        made = _library(run, node, owner, name, args, kwargs)
        if made is not None:
            return made
    if isinstance(owner, Handle) and owner.kind in ("consumer", "producer", "http", "spark", "delta"):
        return None
    if isinstance(owner, Handle) and owner.kind == "table" and name == "insert":
        return Handle(kind="insert", data={"table": owner.name, "guard": False, "select": False})
    if isinstance(owner, Handle) and owner.kind == "insert":
        return _construct(run, owner, name, args)
    if isinstance(owner, Handle) and owner.kind == "hook":
        made = _hook(run, node, owner, name, args, kwargs)
        if made is not None:
            return made
    if isinstance(owner, Handle) and owner.kind == "engine":
        made = _engine(run, node, owner, name, args, kwargs)
        if made is not None:
            return made
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
                _made_up(run, node, f"COPY {table} FROM STDIN WITH (FORMAT csv)", conn_of(run, owner), many=True)
            return Const(value=None)
        case "copy_expert" | "copy" if args or kwargs:
            text = args[0] if args else kwargs.get("sql")
            if isinstance(text, Str) and re.match(r"\s*COPY\b", text.text, re.IGNORECASE):
                execute(run, node, text, conn_of(run, owner), via="execute", many=True)
                return Handle(kind="copy", conn=conn_of(run, owner))
    if name in _FETCHES and not isinstance(owner, FrameV):
        if owner.asked or owner.conn is not None:
            return Value(owner.tags, owner.asked, name)
        return None
    if name in _EXECUTES or name in _MANY:
        return _executed(run, node, owner, name, args, kwargs)
    if name in ("bulk_insert_mappings", "bulk_save_objects") and args:
        table = args[0].name.lower() if name == "bulk_insert_mappings" else "mapped_table"
        if "param" not in args[0].tags:
            _made_up(run, node, f"INSERT INTO {table or 'x'} (id) VALUES (1)", conn_of(run, owner), many=True)
        return Const(value=None)
    if (
        name == "query"
        and args
        and isinstance(args[0], Str)
        and (is_write(args[0].text) or _SELECT.match(args[0].text))
    ):
        conn = owner.conn or Conn("auto", "bigquery" if "bigquery" in owner.name else "")
        return _sql(run, node, args[0], conn, via="execute", many=False)
    return None


def _library(
    run: Interpreter, node: ast.Call, owner: Ref, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    dotted = f"{owner.dotted}.{name}".strip(".")
    for known, (kind, dialect) in _CONNECT.items():
        if dotted == known or dotted.endswith("." + known):
            conn = Conn(kind, dialect)
            auto = kwargs.get("autocommit")
            if isinstance(auto, Const):
                conn.kind = "dbapi"
                conn.autocommit = auto.value is True
            isolation = kwargs.get("isolation_level")
            if isinstance(isolation, Const) and isolation.value is None and dialect == "sqlite":
                conn.autocommit = True
            return Handle(kind="connection", conn=conn)
    last = dotted.rpartition(".")[2]
    if last in ("create_engine", "create_async_engine", "engine_from_config") or dotted.endswith("get_engine"):
        url = re.match(r"(\w+)(\+\w+)?:", text_of(args[0]) or "") if args else None
        name = url[1] if url else ""
        is_auto = (text_of(kwargs.get("isolation_level")) or "").upper() == "AUTOCOMMIT"
        dialect = {"postgresql": "postgres", "mssql": "tsql"}.get(name, name)
        return Handle(kind="engine", conn=Conn("engine", dialect, is_auto))
    if last in ("sessionmaker", "scoped_session") or (last == "Session" and "sqlalchemy" in dotted):
        return Handle(kind="session", conn=Conn("alchemy"), data={"maker": last != "Session"})
    if _HOOK.search(last):
        kind = _HOOK.search(last)[1].lower()  # type: ignore[index]
        dialect = next(
            (
                d
                for k, d in (
                    ("postgres", "postgres"),
                    ("mysql", "mysql"),
                    ("snow", "snowflake"),
                    ("bigq", "bigquery"),
                    ("mssql", "tsql"),
                    ("redshift", "redshift"),
                    ("oracle", "oracle"),
                    ("hive", "hive"),
                    ("databricks", "databricks"),
                    ("trino", "trino"),
                    ("presto", "presto"),
                )
                if kind.startswith(k)
            ),
            "",
        )
        return Handle(
            kind="hook",
            name=last,
            conn=Conn(
                "dbapi"
                if dialect not in ("bigquery", "snowflake", "hive", "databricks", "trino", "presto")
                else "auto",
                dialect,
            ),
        )
    if (
        last in ("text", "SQL", "Composed", "TextClause", "dedent", "cleandoc", "literal_column", "Template")
        and args
        and isinstance(args[0], Str)
    ):
        return args[0]
    if last in ("Identifier", "quote_ident", "Literal", "AsIs", "quoted_name") and args:
        return Str(text=".".join(as_text(one) for one in args), exact=False)
    if last in _MANY and len(args) >= 2:
        statement = args[1] if not isinstance(args[0], Str) else args[0]
        if isinstance(statement, Str):
            return _sql(run, node, statement, conn_of(run, args[0]), via="execute", many=True)
    if last in ("insert", "pg_insert", "upsert") and args and "sqlalchemy" in dotted:
        if type(args[0]) is Value:
            return None  # A table that a library is handed: not its business what is written.
        return Handle(kind="insert", data={"table": _table_name(args[0]), "guard": False, "select": False})
    if dotted.endswith(("sqlalchemy.Table", "schema.Table")) and args and isinstance(args[0], Str):
        return Handle(kind="table", name=args[0].text)
    if last == "closing" and args:
        return args[0]
    return None


def _table_name(value: Value) -> str:
    if isinstance(value, Handle) and value.kind == "table":
        return value.name
    return re.sub(r"(?<!^)(?=[A-Z])", "_", value.name).lower() or "the table"


def _construct(run: Interpreter, owner: Handle, name: str, args: list[Value]) -> Value:
    """insert(table).values(...).on_conflict_do_update(...)"""
    if name.startswith(("on_conflict", "on_duplicate", "prefix_with")):
        owner.data["guard"] = True
    elif name == "from_select":
        owner.data["select"] = True
    return owner


def _hook(
    run: Interpreter, node: ast.Call, owner: Handle, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    conn = conn_of(run, owner)
    match name:
        case "get_conn" | "get_connection":
            return Handle(kind="connection", conn=Conn(conn.kind, conn.dialect))
        case "get_cursor":
            return Handle(kind="cursor", conn=Conn(conn.kind, conn.dialect))
        case "get_sqlalchemy_engine":
            return Handle(kind="engine", conn=Conn("engine", conn.dialect))
        case "run" | "run_query" | "insert_job":
            statement = args[0] if args else kwargs.get("sql")
            auto = kwargs.get("autocommit")
            texts = statement.items if isinstance(statement, Seq) else [statement]
            # All statements of one call are one transaction, unless it is told otherwise.
            once = Conn(conn.kind, conn.dialect, autocommit=isinstance(auto, Const) and auto.value is True)
            for one in texts:
                if isinstance(one, Str):
                    _sql(run, node, one, once, via="hook", many=False)
            return Value()
        case "insert_rows":
            replaces = kwargs.get("replace")
            table = text_of(args[0] if args else kwargs.get("table"))
            guard = isinstance(replaces, Const) and replaces.value is True
            verb = "REPLACE INTO" if guard else "INSERT INTO"
            _made_up(
                run, node, f"{verb} {table or 'jj_table_'} (id) VALUES (1)", Conn("dbapi", conn.dialect), many=True
            )
            return Const(value=None)
        case "bulk_load" | "copy_expert":
            text = args[0] if args else kwargs.get("sql")
            if isinstance(text, Str):
                if name == "copy_expert":
                    execute(run, node, text, Conn("dbapi", conn.dialect), via="hook", many=True)
                else:
                    _made_up(
                        run,
                        node,
                        f"COPY {text.text} FROM STDIN WITH (FORMAT csv)",
                        Conn("dbapi", conn.dialect),
                        many=True,
                    )
            return Const(value=None)
        case "get_first" | "get_records" | "get_pandas_df" | "get_df" | "get_df_by_chunks":
            statement = args[0] if args else kwargs.get("sql")
            asked = (
                _sql(run, node, statement, Conn("auto", conn.dialect), via="hook", many=False)
                if isinstance(statement, Str)
                else Value()
            )
            if "df" in name:
                return FrameV(asked.tags, frame=query_frame(run, statement, node))
            return asked
        case _:
            return None


def _engine(
    run: Interpreter, node: ast.Call, owner: Handle, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    conn = conn_of(run, owner)
    match name:
        case "begin":
            inner = Conn("alchemy", conn.dialect)
            return Handle(kind="transaction", conn=inner, data={"gives": Handle(kind="connection", conn=inner)})
        case "connect" | "raw_connection" | "acquire" | "getconn":
            # SQLAlchemy 1 commits each statement, SQLAlchemy 2 nothing before commit().
            made = Conn("dbapi" if name == "raw_connection" else "alchemy", conn.dialect, conn.autocommit)
            return Handle(kind="connection", conn=made)
        case "execution_options":
            return owner
        case _:
            return None


def _executed(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    first = (
        args[0]
        if args
        else kwargs.get("sql") or kwargs.get("statement") or kwargs.get("query") or kwargs.get("operation")
    )
    conn = conn_of(run, owner) if not isinstance(owner, Ref) else None
    if name in _MANY and isinstance(owner, Ref) and len(args) >= 2:
        return None
    if isinstance(first, Handle) and first.kind == "insert":
        many = len(args) > 1 or bool(first.data["select"])
        tail = " ON CONFLICT DO NOTHING" if first.data["guard"] else ""
        body = "SELECT * FROM jj_source_" if first.data["select"] else "(id) VALUES (1)"
        _made_up(run, node, f"INSERT INTO {first.data['table']} {body}{tail}", conn, many=many)
        return Value()
    if isinstance(first, Str):
        many = name in _MANY or (len(args) > 1 and isinstance(args[1], Seq) and _is_rows(args[1]))
        _, given = merged(args[1:])
        made = _sql(run, node, first, conn, via="execute", many=many, given=frozenset() if many else given)
        if not isinstance(owner, Ref):
            # A cursor is asked for the rows afterwards.
            owner.asked = made.asked
        return made
    if first is None:
        return None
    return unknown(owner, first, name=name)


def _is_rows(value: Seq) -> bool:
    """A list of dicts or tuples: SQLAlchemy runs the statement for each."""
    return not value.exact and bool(value.items) and type(value.items[0]).__name__ in ("Map", "Seq")


def _made_up(run: Interpreter, node: ast.Call, text: str, conn: Conn | None, *, many: bool) -> None:
    """A statement that the library will write itself."""
    execute(run, node, Str(text=text, exact=False), conn, via="execute", many=many)


def _sql(
    run: Interpreter,
    node: ast.Call,
    text: Str,
    conn: Conn | None,
    *,
    via: str,
    many: bool,
    given: frozenset[str] = NONE,
) -> Value:
    """Run SQL; what comes back remembers which tables were asked."""
    asked = execute(run, node, text, conn, via=via, many=many, given=given)
    return Handle(text.tags - {"default"}, frozenset(asked), "result", conn, kind="result")


def execute(
    run: Interpreter,
    node: ast.AST,
    text: Str,
    conn: Conn | None,
    *,
    via: str,
    many: bool = False,
    given: frozenset[str] = NONE,
) -> set[str]:
    """Add what a text does to the flow. Gives the tables that it reads; `given` were asked for its parameters."""
    if not is_write(text.text) and not _SELECT.match(text.text):
        return set()
    if text.node is not None:
        run.executed.add(id(text.node))
    dialect = (conn.dialect if conn is not None else "") or run.flow.dialect or guess(text.text)
    filled = fill(text.text)
    statements = statements_of(filled, dialect)
    asked: set[str] = set()
    for statement in statements:
        if statement.kind == "select":
            asked.update(s for s in statement.sources if s not in statement.ctes)
    if not any(s.kind not in ("select", "other", "set", "view") for s in statements):
        if any(s.kind == "view" for s in statements):
            _add(
                run,
                node,
                text,
                filled,
                [s for s in statements if s.kind == "view"],
                conn,
                via=via,
                many=many,
                asked=given,
            )
        return asked
    _add(run, node, text, filled, statements, conn, via=via, many=many, asked=given)
    return asked


def _add(
    run: Interpreter,
    node: ast.AST,
    text: Str,
    filled: str,
    statements: list[Statement],
    conn: Conn | None,
    *,
    via: str,
    many: bool,
    asked: frozenset[str],
) -> None:
    at = Text(filled)
    place_all = run.place(node)

    def placed(statement: Statement) -> Place:
        return literal_place(text, at, statement, place_all)

    ops = operations(statements, filled, placed, via=via, implicit=False, sure=True)
    outer = conn.tx() if conn is not None else None
    for op in ops:
        assert isinstance(op, SqlOp)
        if op.statement.kind == "commit" and conn is not None:
            conn.commit()
            outer = conn.tx()
        elif op.statement.kind == "begin" and conn is not None:
            conn.turn += 1
            conn.block += 1
            outer = conn.tx()
            conn.block -= 1
            conn.autocommit, conn.kind = False, "dbapi"
        op.tx = outer if outer is not None else (None if op.tx is None else (id(ops), op.tx))
        op.tx_sure = (
            conn is not None and (conn.kind not in ("alchemy", "unknown") or conn.block > 0) and via != "helper"
        )
        if op.statement.dialect in AUTOCOMMIT:
            op.tx, op.tx_sure = None, True
        op.many = many
        op.conn = conn
        op.guards = text.asked | asked
        op.raw = text.text[op.statement.start : op.statement.start + len(op.statement.text)]
        run.add(op)


def literal_place(text: Str, at: Text, statement: Statement, otherwise: Place) -> Place:
    """The lines of the literal that hold a statement; the call where the text was put together."""
    node = text.node
    if node is None:
        return otherwise
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    lines = at.text.count("\n")
    if last - first != lines:
        return otherwise if last == first else Place(first, 1, last, 0)
    if first == last:
        return otherwise if otherwise.line == first == otherwise.last_line else place_of(node)
    line, column = at.place(statement.start)
    end, _ = at.place(statement.start + len(statement.text))
    return Place(first + line - 1, column if line > 1 else 1, first + end - 1, 0)


def query_frame(run: Interpreter, text: Value | None, node: ast.AST) -> Frame:
    """The rows of a SELECT."""
    if not isinstance(text, Str):
        return Frame(param=True)
    filled = fill(text.text)
    statements = statements_of(filled, run.flow.dialect or guess(filled))
    if not statements:
        return Frame()
    from samewise.audit.python.queries import frame_of

    frame = frame_of(statements[0], literal_place(text, Text(filled), statements[0], run.place(node)))
    frame.asked = text.asked
    return frame
