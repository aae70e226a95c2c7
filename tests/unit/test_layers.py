"""Rules that import-linter cannot see."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import samewise

ROOT = Path(samewise.__file__).parent
SESSION = ROOT / "run" / "session.py"
# What an example brings is the user's own code.
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.parent.name != "pipelines")
HEAVY = {"pyspark", "pandas", "pyarrow", "numpy"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def attributes(path: Path) -> set[str]:
    return {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}


def imports_at_import_time(path: Path) -> set[str]:
    """Packages that importing the module would import, apart from those for the type checker."""
    found: set[str] = set()

    def look(nodes: list[ast.stmt]) -> None:
        for node in nodes:
            if isinstance(node, ast.Import):
                found.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
            elif isinstance(node, ast.If) and ast.unparse(node.test) != "TYPE_CHECKING":
                look(node.body + node.orelse)
            elif isinstance(node, ast.ClassDef | ast.Try | ast.With):
                look(node.body)

    look(ast.parse(path.read_text()).body)
    return found


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_uses_no_private_part_of_spark(path: Path) -> None:
    assert attributes(path).isdisjoint({"_jvm", "_jdf", "_jsc", "_jsparkSession", "_sc"})


@pytest.mark.parametrize("path", [path for path in MODULES if path != SESSION], ids=name)
def test_only_the_session_knows_the_spark_context(path: Path) -> None:
    assert attributes(path).isdisjoint({"sparkContext", "builder", "getOrCreate", "rdd"})


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_is_imported_without_spark(path: Path) -> None:
    assert imports_at_import_time(path).isdisjoint(HEAVY)


def test_importing_samewise_imports_nothing_heavy() -> None:
    code = f"import sys, samewise; print(sorted({HEAVY!r} & set(sys.modules)))"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    answer = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
