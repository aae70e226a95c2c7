"""A target has one owner: two state stores would each believe in a history that the other one changes."""

from __future__ import annotations

from samewise.core.errors import ForeignTarget
from samewise.core.records import Owner


def was_lost(found: Owner, owner: Owner) -> bool:
    """True if the store that owned a target lay where ours lies: it was deleted or emptied, and ours came after it."""
    same_task = (found.pipeline, found.task) == (owner.pipeline, owner.task)
    return same_task and found.store_id != owner.store_id and found.place == owner.place


def check_owner(found: Owner | None, owner: Owner, target: str) -> None:
    """Raise `ForeignTarget` if a target belongs to another state store or another task."""
    if found is None or found == owner:
        return
    kept = "the target is untouched"
    if was_lost(found, owner):
        raise ForeignTarget(
            f"{target} has been loaded before, and the state store knows nothing about it: it was lost or emptied",
            kept=kept,
            next_step=f"`samewise recover {owner.pipeline}` rebuilds it from the target, then run again",
        )
    adopt = f"`samewise recover {owner.pipeline} --adopt`"
    if found.store_id != owner.store_id:
        raise ForeignTarget(
            f"{target} belongs to another state store: {found.place}",
            kept=kept,
            next_step=f"use that store (`state:` in samewise.yaml); or, if it is gone for good, {adopt}",
        )
    raise ForeignTarget(
        f"{target} belongs to the task {found.pipeline}/{found.task}",
        kept=kept,
        next_step=f"choose another target; or, if {owner.pipeline}/{owner.task} takes its place, {adopt}",
    )
