"""The file behind `transform:`: where it is, whether it is fit to run, and what it imports."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from samewise.core.errors import ConfigError
from samewise.spec.fields import is_identifier
from samewise.spec.words import closest


@dataclass(frozen=True, slots=True)
class Transform:
    """A SELECT in a file, or a function in one."""

    path: Path
    function: str | None
    """None for SQL."""

    @property
    def is_sql(self) -> bool:
        return self.function is None


def find_transform(text: str, *, beside: Path, root: Path) -> Transform:
    """The transform that `text` names in a pipeline's folder. ValueError says what is wrong with it."""
    name, colon, function = text.partition(":")
    if name.endswith(".sql"):
        if colon:
            raise ValueError("a .sql file is one SELECT and has no functions: drop what follows the colon")
    elif not name.endswith(".py"):
        raise ValueError("must be a file such as orders.sql, or a function such as orders.py:clean")
    elif not is_identifier(function):
        raise ValueError(f"must name a function: {name}:FUNCTION")
    path = Path(os.path.normpath(beside / name))
    if not path.is_relative_to(root):
        raise ValueError(f"'{name}' leads outside the project")
    if not path.is_file():
        raise ValueError(_missing(path, name))
    transform = Transform(path, function or None)
    if transform.function is not None:
        _check_function(transform.function, path)
    return transform


def _missing(path: Path, name: str) -> str:
    neighbours = [file.name for file in path.parent.glob(f"*{path.suffix}")] if path.parent.is_dir() else []
    meant = closest(path.name, neighbours)
    return f"there is no file '{name}' beside this one" + (f", did you mean '{meant}'?" if meant else "")


def _check_function(function: str, path: Path) -> None:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise ValueError(f"{path.name}, line {line}: {getattr(error, 'msg', error)}") from None
    defined = {name: node for node in tree.body for name in _defined(node)}
    if function not in defined:
        meant = closest(function, defined)
        hint = f", did you mean '{meant}'?" if meant else ""
        raise ValueError(f"{path.name} defines no function '{function}'{hint}")
    node = defined[function]
    if isinstance(node, ast.AsyncFunctionDef | ast.ClassDef):
        raise ValueError(f"'{function}' in {path.name} must be a plain function: f(rows, context) -> DataFrame")
    if isinstance(node, ast.FunctionDef) and not _takes_two(node.args):
        raise ValueError(f"'{function}' in {path.name} must take two arguments: f(rows, context) -> DataFrame")


def _defined(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name for alias in names)
        case _:
            return


def _takes_two(arguments: ast.arguments) -> bool:
    positional = len(arguments.posonlyargs) + len(arguments.args)
    required = positional - len(arguments.defaults)
    keywords = [default for default in arguments.kw_defaults if default is None]
    return required <= 2 and (positional >= 2 or arguments.vararg is not None) and not keywords


def transform_files(transform: Transform | None, *, root: Path) -> tuple[Path, ...]:
    """The transform's file and every module of the project that it imports, found by reading only.

    Modules are looked for where the engine looks for them: beside the transform, then in the project.
    """
    if transform is None:
        return ()
    if transform.is_sql:
        return (transform.path,)
    found: dict[Path, None] = {}
    waiting = [transform.path]
    places = (transform.path.parent, root)
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = None
        waiting.extend(module for module in _imported(path, places) if module.is_relative_to(root))
    return (transform.path, *sorted(path for path in found if path != transform.path))


def _imported(path: Path, places: tuple[Path, ...]) -> Iterator[Path]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise ConfigError(
            f"{path.name}, line {line}: {getattr(error, 'msg', error)}", next_step=f"mend {path}"
        ) from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _modules(alias.name.split("."), places)
        elif isinstance(node, ast.ImportFrom):
            steps = node.module.split(".") if node.module else []
            bases = (path.parents[node.level - 1],) if 0 < node.level <= len(path.parents) else places
            for alias in node.names:
                # `from a import b` reads b as a module where there is one, as a name of a otherwise.
                yield from _modules([*steps, alias.name], bases)


def _modules(steps: list[str], places: tuple[Path, ...]) -> Iterator[Path]:
    """The files that importing `a.b.c` runs: each package on the way, then the module."""
    for place in places:
        files = [
            file for length in range(len(steps) + 1) for file in _files_of(place, steps[:length]) if file.is_file()
        ]
        if files:
            yield from files
            return


def _files_of(place: Path, steps: list[str]) -> tuple[Path, ...]:
    if not steps:
        return ()
    module = place.joinpath(*steps)
    return (module / "__init__.py", module.with_name(module.name + ".py"))
