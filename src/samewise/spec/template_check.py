"""What is wrong with a template, found without rendering it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from samewise.core.errors import ConfigError
from samewise.spec.templates import WINDOW_NAMES, Reference, is_template, local_format, references, sandbox
from samewise.spec.words import closest, unknown

if TYPE_CHECKING:
    from jinja2 import nodes

ROOTS = ("window", "env", "params", "pipeline")
_ANY_INSTANT = datetime(2000, 1, 1, tzinfo=UTC)
_UTC = ZoneInfo("UTC")


def template_problems(text: str, *, roots: Collection[str], params: Collection[str]) -> list[str]:
    """Sentences about a template that may use `roots` and the parameters `params`."""
    if not is_template(text):
        return []
    pieces = references(text)
    if pieces is None:
        return list(dict.fromkeys(_jinja_problems(text, roots, params)))
    found: list[str] = []
    for piece in pieces:
        if isinstance(piece, Reference):
            found.extend(_name_problems(piece.root, piece.name, roots, params))
            if piece.format is not None:
                found.extend(_format_problems(piece.format))
    return list(dict.fromkeys(found))


def uses(text: str, root: str) -> bool:
    """True where the template reads `root`. A template that cannot be read uses nothing."""
    if not is_template(text):
        return False
    pieces = references(text)
    if pieces is not None:
        return any(isinstance(piece, Reference) and piece.root == root for piece in pieces)
    from jinja2 import TemplateSyntaxError, nodes

    try:
        tree = sandbox(_UTC).parse(text)
    except TemplateSyntaxError:
        return False
    return any(name.name == root for name in tree.find_all(nodes.Name))


def _name_problems(root: str, name: str | None, roots: Collection[str], params: Collection[str]) -> Iterator[str]:
    if root not in ROOTS:
        yield unknown("variable", root, [known for known in ROOTS if known in roots])
    elif root not in roots:
        yield f"'{root}' cannot be used here"
    elif name is None:
        return
    elif root == "window" and name not in WINDOW_NAMES:
        yield unknown("variable", f"window.{name}", [f"window.{known}" for known in WINDOW_NAMES])
    elif root == "params" and name not in params:
        meant = closest(name, params)
        yield f"unknown parameter '{name}'" + (f", did you mean '{meant}'?" if meant else ": add it under params:")


def _format_problems(pattern: str) -> Iterator[str]:
    try:
        local_format(_ANY_INSTANT, pattern, _UTC)
    except ConfigError as error:
        yield error.message


def _jinja_problems(text: str, roots: Collection[str], params: Collection[str]) -> Iterator[str]:
    from jinja2 import TemplateAssertionError, TemplateSyntaxError, meta, nodes

    environment = sandbox(_UTC)
    try:
        tree = environment.parse(text)
    except TemplateSyntaxError as error:
        yield f"the template cannot be read: {error.message}"
        return
    for used in tree.find_all(nodes.Filter):
        if used.name not in environment.filters:
            yield unknown("filter", used.name, sorted(environment.filters))
        elif used.name == "format" and used.args and isinstance(used.args[0], nodes.Const):
            yield from _format_problems(str(used.args[0].value))
    try:
        undeclared = meta.find_undeclared_variables(tree)
    except TemplateAssertionError as error:
        # An unknown filter, which was said above, or an unknown test.
        if not str(error.message).startswith("No filter"):
            yield f"the template cannot be read: {error.message}"
        return
    for root in sorted(undeclared):
        yield from _name_problems(root, None, roots, params)
    for root, name in _attributes(tree):
        if root in undeclared and root in roots:
            yield from _name_problems(root, name, roots, params)
    if "env" in undeclared and not _env_is_only_written(tree):
        yield "env.NAME can only be written out as it is: a changed secret could not be hidden any more"


def _attributes(tree: nodes.Template) -> Iterator[tuple[str, str]]:
    from jinja2 import nodes

    for attribute in tree.find_all(nodes.Getattr):
        if isinstance(attribute.node, nodes.Name):
            yield attribute.node.name, attribute.attr
    for item in tree.find_all(nodes.Getitem):
        if isinstance(item.node, nodes.Name) and isinstance(item.arg, nodes.Const):
            yield item.node.name, str(item.arg.value)


def _env_is_only_written(tree: nodes.Template) -> bool:
    from jinja2 import nodes

    written = {
        id(child.node)
        for output in tree.find_all(nodes.Output)
        for child in output.nodes
        if isinstance(child, nodes.Getattr) and isinstance(child.node, nodes.Name)
    }
    return all(id(name) in written for name in tree.find_all(nodes.Name) if name.name == "env")
