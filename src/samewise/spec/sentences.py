"""Validation errors -> complaints in our own words, each with the path of the key to blame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from samewise.spec.fields import ERROR_TYPE
from samewise.spec.pipeline import TARGET_TYPES
from samewise.spec.sources import SOURCE_TYPES
from samewise.spec.words import closest, listed, shown, unknown
from samewise.spec.yaml_text import KeyPath


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that is wrong, and what was probably meant."""

    path: KeyPath
    sentence: str
    at_key: bool = False
    """The key itself is wrong, not its value."""
    meant: str | None = None
    """The right key (where `at_key`) or the right value."""
    is_missing: bool = False


def complaints(model: type[BaseModel], raw: Mapping[str, Any], error: ValidationError) -> list[Complaint]:
    """Everything that `error` says about `raw`, without a key being called both unknown and missing."""
    found: list[Complaint] = []
    for line in error.errors(include_url=False):
        found.extend(_complain(model, raw, line))
    renamed = {(*item.path[:-1], item.meant) for item in found if item.at_key and item.meant is not None}
    return [item for item in found if not (item.is_missing and item.path in renamed)]


def _complain(model: type[BaseModel], raw: Mapping[str, Any], line: Any) -> Iterator[Complaint]:
    path = _path(line["loc"])
    match line["type"]:
        case kind if kind == ERROR_TYPE:
            for keys, sentence in line["ctx"]["parts"]:
                yield Complaint((*path, *keys), sentence, meant=line["ctx"]["meant"] if not keys else None)
        case "missing":
            yield Complaint(path, "is missing", is_missing=True)
        case "extra_forbidden":
            yield _unknown_key(model, raw, path)
        case "union_tag_not_found":
            yield Complaint((*path, "type"), f"is missing; there are {listed(_types(path))}")
        case "union_tag_invalid":
            tag = line["input"].get("type")
            meant = closest(tag, _types(path)) if isinstance(tag, str) else None
            yield Complaint((*path, "type"), unknown(str(path[-1]), tag, _types(path)), meant=meant)
        case kind if line["input"] is None:
            yield Complaint(path, "is empty: give it a value, or take the key out")
        case "tuple_type" | "list_type":
            yield Complaint(path, f"must be a list, not {shown(line['input'])}")
        case kind if kind.startswith(("model", "dict", "mapping")):
            yield Complaint(path, f"must be a mapping, not {shown(line['input'])}")
        case _:
            yield Complaint(path, f"cannot be {shown(line['input'])}")


def _types(path: KeyPath) -> Sequence[str]:
    return TARGET_TYPES if path[-1] == "target" else SOURCE_TYPES


def _path(location: Sequence[str | int]) -> KeyPath:
    """Where in the file: without the union's tag and the mark that pydantic puts on a mapping's key."""
    steps = [step for step in location if step != "[key]"]
    if len(steps) > 3 and steps[0] == "tasks" and steps[2] in ("source", "target"):
        del steps[3]
    return tuple(steps)


def _unknown_key(model: type[BaseModel], raw: Mapping[str, Any], path: KeyPath) -> Complaint:
    known = known_keys(model, raw, path[:-1])
    taken = _at(raw, path[:-1])
    meant = closest(str(path[-1]), known)
    if meant is None:
        return Complaint(path, f"unknown key; there are {listed(known)}", at_key=True)
    return Complaint(
        path,
        f"unknown key, did you mean '{meant}'?",
        at_key=True,
        meant=meant if isinstance(taken, Mapping) and meant not in taken else None,
    )


def known_keys(model: type[BaseModel], raw: Mapping[str, Any], path: KeyPath) -> list[str]:
    """The keys that the mapping at `path` may have."""
    here: Any = model
    for depth, step in enumerate(path):
        if isinstance(here, type) and issubclass(here, BaseModel):
            here = next(field.annotation for name, field in here.model_fields.items() if (field.alias or name) == step)
        else:
            # A step into a list or a mapping of models.
            here = get_args(here)[0] if isinstance(step, int) else get_args(here)[1]
        here = _chosen(here, _at(raw, path[: depth + 1]))
    return [field.alias or name for name, field in here.model_fields.items()]


def _chosen(annotation: Any, value: object) -> Any:
    """The model or container behind an annotation; of several models the one that `type` names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) is Annotated:
        return _chosen(get_args(annotation)[0], value)
    if get_origin(annotation) in (tuple, Mapping):
        return annotation
    models = [_chosen(part, value) for part in get_args(annotation) if part is not type(None)]
    wanted = value.get("type") if isinstance(value, Mapping) else None
    for model in models:
        tag = model.model_fields.get("type") if hasattr(model, "model_fields") else None
        if tag is not None and wanted in get_args(tag.annotation):
            return model
    return models[0]


def _at(raw: Any, path: KeyPath) -> Any:
    for step in path:
        try:
            raw = raw[step]
        except (KeyError, IndexError, TypeError):
            return None
    return raw


def mended(raw: Mapping[str, Any], found: Sequence[Complaint]) -> dict[str, Any]:
    """`raw` as it was probably meant, so that one typing error does not hide every later problem."""
    result = deepcopy(dict(raw))
    for item in found:
        path = item.path
        while path and isinstance(path[-1], int) and path[:-1] != ("tasks",):
            # Without one item the others would move up, and their lines with them: leave out the list.
            path = path[:-1]
        holder = _at(result, path[:-1])
        key = path[-1] if path else None
        if not isinstance(holder, dict) or not isinstance(key, str) or key not in holder:
            continue
        value = holder.pop(key)
        if item.meant is not None and path == item.path:
            holder[item.meant if item.at_key else key] = value if item.at_key else item.meant
    return result
