"""Where connections come from: drivers, engines and Airflow hooks, and how each of them commits."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from samewise.audit.facts import ANY, ClearOp
from samewise.audit.python.statements import (
    MANY,
    bounds_of,
    conn_of,
    execute,
    query_frame,
    run_made_up,
    run_sql,
)
from samewise.audit.python.values import (
    ClassV,
    Conn,
    Const,
    FrameV,
    Handle,
    Ref,
    Seq,
    Str,
    Value,
    as_text,
    text_of,
)
from samewise.audit.sql.dialect import dialect_of_tool

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter


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


_MAKES_ROOM = re.compile(r"(^|_)(pre\w*|before|delete|truncate|clear|clean|cleanup|purge|preoperator|reset|setup)(_|$)")
_HOOK = re.compile(
    r"(Postgres|MySql|Snowflake|BigQuery|MsSql|Redshift|RedshiftSQL|Oracle|Jdbc|Sqlite|Odbc|Vertica|Hive\w*|Trino|Presto|Sql|Athena|Teradata|DbApi|ClickHouse|Databricks\w*)Hook$"
)


def library(
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
            path = text_of(args[0] if args else kwargs.get("database"))
            conn.memory = path == ":memory:" or (dotted == "duckdb.connect" and path is None and not args)
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
        dialect = dialect_of_tool(kind)
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
    if last in MANY and len(args) >= 2:
        statement = args[1] if not isinstance(args[0], Str) else args[0]
        if isinstance(statement, Str):
            return run_sql(
                run, node, statement, conn_of(run, args[0]), via="execute", many=True, given=bounds_of(args[2:])
            )
    if last in ("insert", "pg_insert", "upsert") and args and "sqlalchemy" in dotted:
        if type(args[0]) is Value:
            return None  # A table that a library is handed: not its business what is written.
        return Handle(kind="insert", data={"table": table_name(args[0]), "guard": False, "select": False})
    if last == "select" and "sqlalchemy" in dotted:
        return Handle(asked=frozenset(_selected(run, node)), kind="result")
    if last == "delete" and args and "sqlalchemy" in dotted and type(args[0]) is not Value:
        return Handle(kind="delete", data={"table": table_name(args[0])})
    if dotted.endswith(("sqlalchemy.Table", "schema.Table")) and args and isinstance(args[0], Str):
        return Handle(kind="table", name=args[0].text)
    if last == "closing" and args:
        return args[0]
    return None


def _selected(run: Interpreter, node: ast.Call) -> Iterator[str]:
    """The tables of select(prices.c.sku): those that this file defines."""
    for one in node.args:
        while isinstance(one, ast.Attribute):
            one = one.value
        value = run.lookup(one.id) if isinstance(one, ast.Name) else None
        if isinstance(value, Handle) and value.kind == "table":
            yield value.name
        elif isinstance(value, Ref | ClassV) and value.name[:1].isupper():
            yield table_name(value)


def table_name(value: Value) -> str:
    """The table of a mapped class, or of Table("name")."""
    if isinstance(value, Handle) and value.kind == "table":
        return value.name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", value.name).lower() or "the table"


def hook_call(
    run: Interpreter, node: ast.Call, owner: Handle, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    conn = conn_of(run, owner)
    match name:
        case "get_conn" | "get_connection":
            return Handle(kind="connection", conn=Conn(conn.kind, conn.dialect))
        case "set_autocommit" if args and args[0].conn is not None:
            args[0].conn.autocommit = len(args) > 1 and isinstance(args[1], Const) and args[1].value is True
            return Const(value=None)
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
                    given = bounds_of([*args[1:], *kwargs.values()])
                    run_sql(run, node, one, once, via="hook", many=False, given=given)
                elif one is not None and _MAKES_ROOM.search(one.name):
                    run.add(ClearOp(run.place(node), target=ANY, sure=False))
            return Value()
        case "insert_rows":
            replaces = kwargs.get("replace")
            table = text_of(args[0] if args else kwargs.get("table"))
            # Where the caller says whether to replace, it is the caller who has to know.
            off = isinstance(replaces, Const) and not replaces.value and "param" not in replaces.tags
            guard = replaces is not None and not off
            verb = "REPLACE INTO" if guard else "INSERT INTO"
            run_made_up(
                run, node, f"{verb} {table or 'jj_table_'} (id) VALUES (1)", Conn("dbapi", conn.dialect), many=True
            )
            return Const(value=None)
        case "bulk_load" | "copy_expert":
            text = args[0] if args else kwargs.get("sql")
            if isinstance(text, Str):
                if name == "copy_expert":
                    execute(run, node, text, Conn("dbapi", conn.dialect), via="hook", many=True)
                else:
                    run_made_up(
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
                run_sql(run, node, statement, Conn("auto", conn.dialect), via="hook", many=False)
                if isinstance(statement, Str)
                else Value()
            )
            if "df" in name:
                return FrameV(asked.tags, frame=query_frame(run, statement, node))
            return asked
        case _:
            return None


def engine_call(
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
