"""Airflow, Prefect, Dagster, Celery and retry decorators: what is run as a task, and how often."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samewise.audit.facts import Flow, HttpOp, Retry, Task
from samewise.audit.finding import Place, TaskFact
from samewise.audit.python import statements
from samewise.audit.python.values import Conn, Const, Func, Handle, Map, Ref, Seq, Str, Value, place_of, text_of
from samewise.audit.sql.dialect import dialect_of_tool

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_SQL_OPERATOR = re.compile(
    r"(Postgres|MySql|Snowflake|SnowflakeSql\w*|MsSql|Redshift\w*|Sqlite|Oracle|Jdbc|SQLExecuteQuery|BigQueryExecuteQuery|BigQuery|Vertica|Trino"
    r"|Presto|Hive|Databricks\w*|Athena|ClickHouse|Teradata|SparkSql)Operator$"
)
_AUTO = ("snowflake", "bigquery", "hive", "databricks", "trino", "presto", "athena", "clickhouse", "sparksql")
_RETRYING = re.compile(
    r"(^|\.)(tenacity\.retry|retry|retrying\.retry|backoff\.on_exception|backoff\.on_predicate|retry_with_backoff|retryable)$"
)


def is_task(run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return task_decorator(run, node) is not None


def task_decorator(run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ast.expr] | None:
    """Which orchestrator runs this function as a task of its own, by its decorator."""
    for decorator in node.decorator_list:
        func = decorator.func if isinstance(decorator, ast.Call) else decorator
        text = ast.unparse(func)
        found = run.lookup(text.partition(".")[0])
        dotted = (found.dotted + text[len(text.partition(".")[0]) :]) if isinstance(found, Ref) else text
        if "airflow" in dotted and re.search(r"(^|\.)task(\.\w+)?$", dotted):
            return "airflow", decorator
        if "prefect" in dotted and re.search(r"\.(task|flow)$", dotted):
            return "prefect", decorator
        if "dagster" in dotted and re.search(r"\.(op|asset)$", dotted):
            return "dagster", decorator
        if "celery" in dotted and re.search(r"\.(task|shared_task)$", dotted):
            return "celery", decorator
        if re.search(r"(^|\.)(celery|celery_app|app)\.task$", text) and "celery" in " ".join(run.imports):
            return "celery", decorator
        if re.fullmatch(r"(task|airflow_task)(\.\w+)?", text) and any("airflow" in one for one in run.imports):
            return "airflow", decorator
    return None


def retry_of(run: Interpreter, node: ast.AST) -> Retry | None:
    """A decorator that repeats a function."""
    for decorator in getattr(node, "decorator_list", []):
        func = decorator.func if isinstance(decorator, ast.Call) else decorator
        text = ast.unparse(func)
        found = run.lookup(text.partition(".")[0])
        dotted = (found.dotted + text[len(text.partition(".")[0]) :]) if isinstance(found, Ref) else text
        if _RETRYING.search(dotted) and not dotted.startswith("pytest"):
            return Retry(place_of(decorator), f"@{text}")
    return None


def decorated(run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef, made: Value) -> None:
    """Note down a function that is a task."""
    found = task_decorator(run, node)
    if found is not None:
        kind, decorator = found
        keywords = {k.arg: k for k in decorator.keywords if k.arg} if isinstance(decorator, ast.Call) else {}
        task = Task(node.name, place_of(decorator), kind=kind, schedule=run.flow.schedule)
        task.retry = _retry_from(run, keywords, kind)
        if task.retry is None and kind == "airflow" and "retries" not in keywords:
            task.retry = _default_retry(run)
        given = {name: run.eval(keyword.value) for name, keyword in keywords.items()}
        _order(run, task, given)
        run.tasks.append((task, made, [], {}))
        return
    for decorator_node in node.decorator_list:
        if isinstance(decorator_node, ast.Call):
            name = ast.unparse(decorator_node.func).rpartition(".")[2]
            if name in ("dag", "DAG"):
                kwargs = {k.arg: run.eval(k.value) for k in decorator_node.keywords if k.arg}
                _dag(run, decorator_node, kwargs)
                assert isinstance(made, Func)
                run.invoke(made, [], {})
                run.dag_args = {}
                run.flow.schedule = ""


def _retry_from(run: Interpreter, keywords: dict[str, ast.keyword], kind: str) -> Retry | None:
    for name in ("retries", "max_retries", "autoretry_for", "retry_policy", "retry"):
        keyword = keywords.get(name)
        if keyword is None:
            continue
        value = run.eval(keyword.value)
        if isinstance(value, Const) and isinstance(value.value, int):
            return Retry(place_of(keyword), f"{name}={value.value}", value.value) if value.value > 0 else None
        return Retry(place_of(keyword), f"{name}={ast.unparse(keyword.value)[:30]}")
    return None


def _default_retry(run: Interpreter) -> Retry | None:
    """retries of the DAG's default_args."""
    default = run.dag_args.get("default_args")
    if not isinstance(default, Map):
        return None
    value = default.items.get("retries")
    if value is None:
        return None
    place = _key_place(default, "retries")
    if isinstance(value, Const) and isinstance(value.value, int):
        return Retry(place, f"retries={value.value} in default_args", value.value) if value.value > 0 else None
    return Retry(place, "retries in default_args")


def _key_place(value: Map, key: str) -> Place:
    node = value.node
    if isinstance(node, ast.Dict):
        for name, held in zip(node.keys, node.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return Place(
                    name.lineno, name.col_offset + 1, held.end_lineno or held.lineno, (held.end_col_offset or 0) + 1
                )
    if isinstance(node, ast.Call):
        found = next((keyword for keyword in node.keywords if keyword.arg == key), None)
        return place_of(found or node)
    return place_of(node) if node is not None else Place(1)


def _dag(run: Interpreter, node: ast.Call, kwargs: dict[str, Value]) -> None:
    run.dag_args = kwargs
    schedule = kwargs.get("schedule") or kwargs.get("schedule_interval")
    keyword = next((k for k in node.keywords if k.arg in ("schedule", "schedule_interval")), None)
    text = text_of(schedule)
    run.flow.schedule = text or (
        ast.unparse(keyword.value).replace("datetime.", "").replace("dt.", "") if keyword is not None else ""
    )
    start = kwargs.get("start_date")
    if start is None and isinstance(kwargs.get("default_args"), Map):
        default = kwargs["default_args"]
        assert isinstance(default, Map)
        start = default.items.get("start_date")
        if start is not None and "clock" in start.tags and start.name != "days_ago":
            run.flow.clocks.append((_key_place(default, "start_date"), start.name or "the clock"))
        return
    if start is not None and "clock" in start.tags and start.name != "days_ago":
        place = next((place_of(k) for k in node.keywords if k.arg == "start_date"), place_of(node))
        run.flow.clocks.append((place, f"{start.name or 'the clock'}()"))


def call(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """Operators and DAGs."""
    if isinstance(owner, Handle) and owner.kind in ("dag", "operator"):
        return owner
    dotted = f"{owner.dotted}.{name}".strip(".") if isinstance(owner, Ref) else ""
    last = dotted.rpartition(".")[2]
    if not last:
        return None
    if last == "DAG":
        _dag(run, node, kwargs)
        return Handle(kind="dag")
    if last == "override" or (not last.endswith("Operator") and not last.endswith("Sensor")):
        return None
    task = _task(run, node, kwargs)
    if last in (
        "PythonOperator",
        "PythonVirtualenvOperator",
        "ShortCircuitOperator",
        "BranchPythonOperator",
        "ExternalPythonOperator",
    ):
        function = kwargs.get("python_callable")
        given = kwargs.get("op_kwargs")
        positional = kwargs.get("op_args")
        if isinstance(function, Func):
            run.tasks.append(
                (
                    task,
                    function,
                    positional.items if isinstance(positional, Seq) else [],
                    given.items if isinstance(given, Map) else {},
                )
            )
        elif isinstance(function, Ref) and "." in function.dotted and task.retry is not None:
            module, _, attr = function.dotted.rpartition(".")
            run.emitted.append(TaskFact(task.name, task.retry.count, task.retry.place, module, attr))
    else:
        _operator(run, node, last, task, kwargs)
    return Handle(kind="operator")


def _task(run: Interpreter, node: ast.Call, kwargs: dict[str, Value]) -> Task:
    keywords = {k.arg: k for k in node.keywords if k.arg}
    task = Task(text_of(kwargs.get("task_id")) or "", place_of(node), schedule=run.flow.schedule)
    task.retry = _retry_from(run, keywords, "airflow")
    if task.retry is None and "retries" not in keywords:
        task.retry = _default_retry(run)
    _order(run, task, kwargs)
    return task


def _order(run: Interpreter, task: Task, kwargs: dict[str, Value]) -> None:
    """Whether runs of the task can overlap, or come out of order."""
    default = run.dag_args.get("default_args")
    defaults = default.items if isinstance(default, Map) else {}
    past = kwargs.get("depends_on_past") or defaults.get("depends_on_past")
    task.depends_on_past = isinstance(past, Const) and past.value is True
    active = run.dag_args.get("max_active_runs")
    task.one_at_a_time = isinstance(active, Const) and active.value == 1
    catchup = run.dag_args.get("catchup")
    task.catchup = not (isinstance(catchup, Const) and catchup.value is False)


def _operator(run: Interpreter, node: ast.Call, last: str, task: Task, kwargs: dict[str, Value]) -> None:
    """An operator that does something itself: its SQL, its request, its load."""
    outer, run.flow = run.flow, Flow(run.context, name=task.name, task=task, schedule=run.flow.schedule)
    run.task, before = task, run.task
    try:
        match = _SQL_OPERATOR.search(last)
        if match or "sql" in kwargs:
            _sql_operator(run, node, (match[1] if match else last).lower(), kwargs)
        from samewise.audit.python.operators import other_operator

        other_operator(run, node, last, kwargs)
        if last in ("SimpleHttpOperator", "HttpOperator"):
            method = text_of(kwargs.get("method")) or "POST"
            headers = kwargs.get("headers")
            keyed = isinstance(headers, Map) and any("idempot" in key.lower() for key in headers.items)
            if method.upper() == "POST":
                run.add(
                    HttpOp(
                        place_of(node),
                        url=f"/{(text_of(kwargs.get('endpoint')) or '').lstrip('/')}",
                        keyed=keyed,
                        call=last,
                    )
                )
    finally:
        run.flows.append(run.flow)
        run.flow, run.task = outer, before


def _sql_operator(run: Interpreter, node: ast.Call, kind: str, kwargs: dict[str, Value]) -> None:
    statement = kwargs.get("sql") or kwargs.get("hql") or kwargs.get("query")
    auto = kwargs.get("autocommit")
    is_auto = (isinstance(auto, Const) and auto.value is True) or (kind.startswith(_AUTO) and auto is None)
    dialect = dialect_of_tool(kind)
    conn = Conn("auto" if is_auto else "dbapi", dialect)
    run.flow.dialect = dialect
    for one in statement.items if isinstance(statement, Seq) else [statement]:
        if not isinstance(one, Str):
            continue
        if re.fullmatch(r"\s*[\w/.{} -]+\.sql\s*", one.text):
            if not is_auto:
                run.emitted.append(one.text.strip().rpartition("/")[2])
            continue
        statements.execute(run, node, one, conn, via="operator")
