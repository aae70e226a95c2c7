"""Names that outlive a process: run ids, batch ids, tokens, hashes."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from samewise.core.windows import Window

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


def new_run_id() -> str:
    """A run's identity: random, so that no two runs anywhere are taken for each other."""
    return uuid.uuid4().hex


def new_attempt_id() -> str:
    """An attempt's identity; it also names the attempt's own staging."""
    return uuid.uuid4().hex[:12]


def batch_id(pipeline: str, task: str, window: Window, generation: int) -> str:
    """The same for every attempt of a run: names its staging folder and its commit."""
    return stable_hash([pipeline, task, window.key, generation])[:16]


def app_id(pipeline: str, task: str, window: Window) -> str:
    """The token's owner. One per window: a shared one would drop an older window silently."""
    return f"samewise/{pipeline}/{task}/{window.key}"


def group_app_id(pipeline: str, task: str, span: Window) -> str:
    """The token's owner for windows that are published together, from the first one's start to the last one's end."""
    return f"samewise/{pipeline}/{task}/group/{span.key}"


def stable_hash(value: Json) -> str:
    """SHA-256 of the canonical JSON of `value`: the same on every machine and every run."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
