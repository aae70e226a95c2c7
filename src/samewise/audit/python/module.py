"""What kind of module this is: by what it imports, defines and calls. One walk over the tree."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from samewise.audit.facts import ONCE, Context

_WEB = re.compile(
    r"^(flask|django|fastapi|starlette|sanic|tornado|bottle|falcon|pyramid|aiohttp\.web|rest_framework|graphene|strawberry|litestar|quart|streamlit|channels"
    r"|grpc|cherrypy|connexion|flask_\w+|robyn|discord|telegram|telebot|aiogram|slack_bolt|websockets|socketio|dash|gradio|nicegui"
    r"|tkinter|PyQt\d|PySide\d|kivy|textual)(\.|$)"
)
_PIPELINE = re.compile(
    r"^(airflow|pyspark|pandas|polars|prefect|dagster|luigi|awsglue|dlt|petl|psycopg2\.extras|awswrangler|snowflake|delta|boto3|csv|django\.core\.management|pyiceberg|deltalake)(\.|$)"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """Names that stand anywhere in the module."""

    imports: frozenset[str]
    called: frozenset[str]
    """Functions that are called, or handed to someone who will call them."""
    tested: bool


def look_over(tree: ast.Module) -> Seen:
    """Walk over the whole tree, once."""
    imports: set[str] = set()
    called: set[str] = set()
    tested = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for part in (node.func, *node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(part, ast.Name):
                    called.add(part.id)
        elif isinstance(node, ast.Import):
            imports.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports.add(node.module)
        elif isinstance(node, ast.FunctionDef):
            tested = tested or node.name.startswith("test_")
    return Seen(frozenset(imports), frozenset(called), tested)


def describe(tree: ast.Module, seen: Seen, file: str, lines: list[str], *, language: str, databricks: bool) -> Context:
    """What decides how much is said about the module."""
    imports = seen.imports
    name = file.rpartition("/")[2]
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    test = (
        name == "conftest.py"
        or re.search(r"(^|/)bench(marks?)?/", file) is not None
        or bool(imports & {"pytest", "unittest", "unittest.mock"})
        or (name.startswith("test_") and seen.tested)
    )
    migration = (
        any(one == "alembic" or one.startswith("django.db.migrations") for one in imports)
        or ("upgrade" in functions and "downgrade" in functions)
        or ONCE.search(file) is not None
    )
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    return Context(
        file=file,
        language=language,
        lines=lines,
        web=any(_WEB.match(one) for one in imports) and "django.core.management.base" not in imports,
        test=test,
        migration=migration,
        pipeline=any(_PIPELINE.match(one) for one in imports),
        databricks=databricks or any(one.startswith(("databricks", "delta")) for one in imports),
        client=any(one.endswith(("Client", "API", "Api", "SDK", "Session", "Connector")) for one in classes),
    )
