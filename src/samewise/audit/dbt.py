"""dbt models, Jinja left as it is."""

from __future__ import annotations

import ast
import re

from samewise.audit.facts import Context, Flow, ModelOp
from samewise.audit.finding import Place
from samewise.audit.sql.classify import classify
from samewise.audit.sql.dialect import guess
from samewise.audit.sql.script import read_script
from samewise.audit.sql.template import fill
from samewise.audit.sql.words import Text, words_of

_CONFIG = re.compile(r"\{\{-?\s*config\s*\(")
_INCREMENTAL = re.compile(r"\{%-?\s*if\s+[^%]*is_incremental\(\).*?%\}(.*?)\{%-?\s*(?:endif|else)", re.DOTALL)
_JINJA = re.compile(r"\{\{\s*(ref|source|config|this|var)\b|\{%-?\s*(if|set|macro|for|snapshot)\b")


def is_model(text: str) -> bool:
    """A SELECT with dbt's Jinja in it, or a config."""
    return _JINJA.search(text) is not None and not re.search(r"\{%-?\s*(macro|snapshot|test|materialization)\b", text)


def read_model(text: str, context: Context) -> Flow:
    """The flow of one model: its SELECT, written as its config says."""
    config, place = read_config(text)
    filled = fill(_CONFIG.sub(lambda m: m[0], text))
    words = words_of(filled)
    flow = Flow(context, dialect=guess(filled))
    if not words:
        return flow
    if words[0].upper not in ("SELECT", "WITH", "("):
        return read_script(text, context)
    statement = classify(words, filled, flow.dialect)
    if statement.kind not in ("select", "other"):
        return read_script(text, context)
    statement.kind = "model"
    name = context.file.rpartition("/")[2].rpartition(".")[0]
    statement.target = name
    at = Text(text)
    line, column = at.place(statement.start)
    end, end_column = at.place(statement.start + len(statement.text))
    first = Place(line, column, end, end_column)
    found = _INCREMENTAL.search(text)
    where = found[1] if found else ""
    op = ModelOp(
        Place(place.line, place.column, end, end_column) if place is not None else first,
        statement=statement,
        via="dbt",
        name=name,
        config=config,
        filter=where,
        raw=text,
    )
    # Places inside the SELECT are counted from where it begins.
    statement.start = 0
    before = text[: at_offset(text, op.place.line)]
    statement.text = filled[len(before) :]
    statement.words = [w._replace(start=w.start - len(before), end=w.end - len(before)) for w in statement.words]
    flow.ops.append(op)
    return flow


def keyed_models(text: str) -> list[str]:
    """Models to which a properties file gives a unique key, or a strategy that needs none."""
    if "models:" not in text or not re.search(r"unique_key|incremental_strategy", text):
        return []
    import yaml

    try:
        body = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return []  # Not ours to judge; dbt will tell.
    models = body.get("models") if isinstance(body, dict) else None
    found = []
    for model in models if isinstance(models, list) else []:
        config = model.get("config") if isinstance(model, dict) else None
        if isinstance(config, dict) and (
            config.get("unique_key") or config.get("incremental_strategy") in ("insert_overwrite", "microbatch")
        ):
            found.append(str(model.get("name")))
    return found


def at_offset(text: str, line: int) -> int:
    """Where a line begins."""
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
    return at


def read_config(text: str) -> tuple[dict[str, object], Place | None]:
    """The keywords of `{{ config(...) }}`; what is not a constant is None."""
    start = _CONFIG.search(text)
    if start is None:
        return {}, None
    end = text.find("}}", start.end())
    inner = text[start.end() : end].rstrip().rstrip("-").rstrip().removesuffix(")")
    line = text.count("\n", 0, start.start()) + 1
    try:
        call = ast.parse(f"f({inner})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found: dict[str, object] = {"?": True}
        for key, value in re.findall(r"(\w+)\s*=\s*['\"]([^'\"]*)['\"]", inner):
            found[key] = value
        return found, Place(line)
    assert isinstance(call, ast.Call)
    config: dict[str, object] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            config["?"] = True
            continue
        try:
            config[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, SyntaxError, TypeError):
            config[keyword.arg] = ast.unparse(keyword.value)
    return config, Place(line)
