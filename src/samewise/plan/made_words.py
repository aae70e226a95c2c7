"""The words for a key or a version that is made at processing time, wherever it was found."""

from __future__ import annotations

from samewise.plan.impure import Impurity

KEY = "key"
VERSION = "version"
FILE_METADATA = "_metadata"
RANKING = frozenset({"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"})
_OWN_PREFIX = "_samewise"

_WHY = {
    Impurity.CLOCK: "it is the time of the run, another one for every load",
    Impurity.RANDOM: "it is another value at every attempt",
    Impurity.LAYOUT: "it follows from how the rows lie in files and partitions, which a retry may change",
    Impurity.SESSION: "it depends on who runs the pipeline",
}
_THEN = {
    KEY: "so the same row would be added again under another key; use columns of the source, "
    "or write.hash_key for rows without an id",
    VERSION: "so what is loaded last would win, and a replay of old rows would overwrite newer ones; "
    "use a time or a number that the source gives",
}


def made_sentence(role: str, name: str, made: str) -> str:
    """What is wrong with a key or a version that is `made` at processing time."""
    return f"the {role} {name} is made of {made}, {_THEN[role]}"


def call_text(name: str, kind: Impurity) -> str:
    """A function that will not do, and why."""
    return f"{name}(): {_WHY[kind]}"


def ranking_text(name: str) -> str:
    return f"{name}() over no order: the numbers go round at every attempt"


def run_time_text(name: str) -> str:
    """The frozen time of the run, as the user calls it."""
    return f"{name}: {_WHY[Impurity.CLOCK]}"


def own_column_text(name: str) -> str | None:
    """Why a column of this name tells nothing about the row; None where it may."""
    if name == FILE_METADATA:
        return f"{FILE_METADATA}: it tells about the file, and the same row may come in another one"
    return f"{name}: it is the run's own column" if name.startswith(_OWN_PREFIX) else None
