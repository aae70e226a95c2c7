"""The commit protocol as tables. A first run and a recovery go through the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from samewise.core.records import Answer, Point


class Step(StrEnum):
    """What an attempt does next."""

    CHECK = "check"
    STAGE = "stage"
    VERIFY = "verify"
    COMMIT = "commit"
    CHECKPOINT = "checkpoint"
    DELIVER = "deliver"
    CLEAN_UP = "clean_up"
    GIVE_WAY = "give_way"
    """A newer run has landed: report it, change nothing."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A run as one attempt sees it."""

    point: Point
    own: bool
    """True once this attempt itself has reached `point`; what an earlier attempt staged is never trusted."""
    stages: bool
    """True where rows are staged and verified before they are published."""
    nothing_to_write: bool = False
    """True once this attempt has found every row of its own in the target: then there is nothing to commit."""


def next_step(progress: Progress, landed: Answer) -> Step:
    """The one table that decides, for a first run, a retry and a recovery alike.

    `landed` is the target's own answer; it counts only from `committing` on, because before
    that no attempt of this run can have committed anything.
    """
    match progress.point:
        case Point.PLANNED:
            return Step.CHECK
        case Point.CHECKED | Point.STAGED | Point.VERIFIED if not progress.own:
            return Step.CHECK
        case Point.CHECKED:
            return Step.STAGE if progress.stages else Step.COMMIT
        case Point.STAGED:
            return Step.VERIFY
        case Point.VERIFIED:
            return Step.COMMIT
        case Point.COMMITTING:
            match landed:
                case Answer.MINE:
                    return Step.CHECKPOINT
                case Answer.SUPERSEDED:
                    return Step.GIVE_WAY
                case Answer.ABSENT if progress.own and progress.nothing_to_write:
                    return Step.CHECKPOINT
                case Answer.ABSENT:
                    return Step.COMMIT if progress.own else Step.CHECK
        case Point.CHECKPOINTED:
            return Step.DELIVER
        case Point.DELIVERED:
            return Step.CLEAN_UP
        case _:
            assert_never(progress.point)


def planned_steps(*, stages: bool) -> list[Step]:
    """The steps of an undisturbed run, found by asking `next_step` itself: what a dry run shows."""
    after = {
        Step.CHECK: Point.CHECKED,
        Step.STAGE: Point.STAGED,
        Step.VERIFY: Point.VERIFIED,
        Step.COMMIT: Point.COMMITTING,
        Step.CHECKPOINT: Point.CHECKPOINTED,
        Step.DELIVER: Point.DELIVERED,
    }
    steps: list[Step] = []
    point = Point.PLANNED
    while True:
        step = next_step(Progress(point, own=True, stages=stages), Answer.MINE)
        steps.append(step)
        if step not in after:
            return steps
        point = after[step]


class Course(StrEnum):
    """What becomes of a run that a command finds unfinished."""

    RESUME = "resume"
    """Another attempt at the same run: same generation, same pins, same `run_ts`."""
    REPLAN = "replan"
    """Close it and plan a new generation; it can no longer commit."""
    BURN = "burn"
    """It may still commit: burn its token first, then close it and plan a new generation."""
    GIVE_WAY = "give_way"
    """A newer run has landed: close it as superseded."""


def course(point: Point, landed: Answer, *, same_plan: bool) -> Course:
    """Decide about an unfinished run. `same_plan`: a fresh plan would have the same definition and inputs.

    Before `committing` a frozen attempt cannot do any harm: its next write to the state store is refused.
    """
    match point:
        case Point.PLANNED | Point.CHECKED | Point.STAGED | Point.VERIFIED:
            return Course.RESUME if same_plan else Course.REPLAN
        case Point.COMMITTING:
            match landed:
                case Answer.MINE:
                    return Course.RESUME
                case Answer.SUPERSEDED:
                    return Course.GIVE_WAY
                case Answer.ABSENT:
                    return Course.RESUME if same_plan else Course.BURN
        case Point.CHECKPOINTED | Point.DELIVERED:
            return Course.RESUME
        case _:
            assert_never(point)
