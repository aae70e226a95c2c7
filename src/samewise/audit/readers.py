"""One file -> everything that it says. Never raises for what is in the file."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import PurePosixPath

from samewise.audit import dbt, notebook
from samewise.audit.facts import ONCE, TESTS, Context, Flow
from samewise.audit.finding import Collected, FileReport, Finding, Place, Related, TaskFact, Write
from samewise.audit.ignores import find_ignores
from samewise.audit.judge import judge
from samewise.audit.sql.script import WRITE_WORDS, read_script
from samewise.audit.yaml_sql import read_yaml

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
SUFFIXES = (".sql", ".py", ".ipynb", ".hql", ".ddl", ".bteq", ".yaml", ".yml")
_FLYWAY = re.compile(r"^[VUR]\d[\w.]*__\w+\.sql$|^\d{8,14}[_-].*\.sql$|^\d{3,5}[_-].*\.(up|down)?\.?sql$")


def decode(data: bytes) -> str | None:
    """Text, in whatever encoding people's tools write; None for what is not text."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    if b"\x00" in data[:8192]:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
        if len(_CONTROL.findall(text[:4096])) > 40:
            return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_file(data: bytes, file: str, dialect: str = "") -> FileReport:
    """Everything that a file says; `file` is its path below the folder that is audited."""
    text = decode(data)
    if text is None:
        return FileReport(problem="not a text file")
    collected = Collected()
    try:
        _read(text, data, file, dialect, collected)
    except RecursionError:
        collected.problem = "nested too deeply"
    except MemoryError:
        collected.problem = "nested too deeply, or too large"
    return FileReport(
        findings=tuple(collected.findings),
        writes=tuple(collected.writes),
        tables=tuple(collected.tables),
        tasks=tuple(collected.tasks),
        sql_files=tuple(collected.sql_files),
        models=tuple(collected.models),
        ignores=tuple(find_ignores(text)),
        problem=collected.problem,
        problem_line=collected.problem_line,
    )


def _read(text: str, data: bytes, file: str, dialect: str, collected: Collected) -> None:
    suffix = PurePosixPath(file).suffix.lower()
    if suffix == ".py":
        _python(text, data, file, collected)
    elif suffix == ".ipynb":
        _notebook(text, data, file, collected)
    elif suffix in (".yaml", ".yml"):
        collected.models.extend(dbt.keyed_models(text))
        _yaml(text, file, collected)
    else:
        _sql(text, file, dialect, collected)


def _sql(text: str, file: str, dialect: str, collected: Collected) -> None:
    lines = text.split("\n")
    name = file.rpartition("/")[2]
    once = ONCE.search(file) is not None or _FLYWAY.match(name) is not None
    tested = TESTS.search(file) is not None
    if dbt.is_model(text):
        context = Context(file, "dbt", lines, pipeline=True, test=tested)
        judge([dbt.read_model(text, context)], collected)
        return
    context = Context(file, "sql", lines, migration=once, pipeline=True, test=tested)
    if WRITE_WORDS.search(text):
        judge([read_script(text, context, dialect)], collected)


def _yaml(text: str, file: str, collected: Collected) -> None:
    once, tested = ONCE.search(file) is not None, TESTS.search(file) is not None
    context = Context(file, "yaml", text.split("\n"), migration=once, pipeline=True, test=tested)
    judge(read_yaml(text, context), collected)


def _python(text: str, data: bytes, file: str, collected: Collected) -> None:
    from samewise.audit.python.reader import INTERESTING

    if not INTERESTING.search(data):
        return
    databricks = notebook.is_databricks(text)
    source = notebook.read_databricks(text) if databricks else text
    tree = _parse(source, collected)
    if tree is not None:
        _flows(tree, file, text.split("\n"), collected, language="python", databricks=databricks)


def _parse(source: str, collected: Collected) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        collected.problem, collected.problem_line = f"not Python 3: {error.msg}", error.lineno or 0
    except ValueError as error:
        collected.problem = f"not Python 3: {error}"
    return None


def _flows(
    tree: ast.Module, file: str, lines: list[str], collected: Collected, *, language: str, databricks: bool
) -> None:
    from samewise.audit.python.reader import read_python

    flows, emitted = read_python(tree, file, lines, language=language, databricks=databricks)
    judge(_spread(flows), collected)
    for one in emitted:
        if isinstance(one, TaskFact):
            collected.tasks.append(one)
        elif isinstance(one, str):
            collected.sql_files.append(one)


def _spread(flows: list[Flow]) -> list[Flow]:
    """Those that do anything."""
    return [flow for flow in flows if flow.ops or flow.clocks]


def _notebook(text: str, data: bytes, file: str, collected: Collected) -> None:
    from samewise.audit.python.reader import INTERESTING

    if not INTERESTING.search(data) and b"%%sql" not in data:
        return
    try:
        book = notebook.read_ipynb(text)
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        collected.problem = f"not a notebook: {str(error)[:80]}"
        return
    tree = _parse(book.text, collected)
    if tree is None:
        if collected.problem_line and collected.problem_line <= len(book.places):
            collected.problem_line = book.places[collected.problem_line - 1][0]
        return
    databricks = "databricks" in text[-4000:] or "dbutils" in text
    _flows(tree, file, book.text.split("\n"), collected, language="notebook", databricks=databricks)
    collected.findings = [_moved_finding(one, book) for one in collected.findings]
    collected.writes = [Write(_moved(one.place, book), one.kind, one.target, one.verdict) for one in collected.writes]


def _moved(place: Place, book: notebook.Notebook) -> Place:
    line, cell = book.places[min(place.line, len(book.places)) - 1]
    last, _ = book.places[min(place.last_line, len(book.places)) - 1]
    return Place(line, 1, last, 0, cell)


def _moved_finding(finding: Finding, book: notebook.Notebook) -> Finding:
    related = tuple(Related(_moved(one.place, book), one.message, one.file) for one in finding.related)
    return finding.but(place=_moved(finding.place, book), related=related)
