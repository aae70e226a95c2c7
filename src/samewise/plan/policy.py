"""What a task does about changes of its source's schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Policy:
    """What is done about each kind of change; `rename` maps an accepted name to the source's new one."""

    added: Literal["fail", "add", "ignore"] = "fail"
    removed: Literal["fail", "ignore"] = "fail"
    type: Literal["fail", "ignore"] = "fail"
    nullability: Literal["fail", "ignore"] = "fail"
    order: Literal["fail", "ignore"] = "fail"
    rename: Mapping[str, str] = field(default_factory=dict)
