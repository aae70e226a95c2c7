"""Single windows and groups of windows, played through together: killed anywhere, late everywhere.

A target records one token a commit. So a group has a token of its own, and nothing but the order of burning and
planning keeps an older run of a window from landing on top of a newer group, or the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from samewise.core.records import Answer, Point, RunStatus
from samewise.plan.protocol import Course, course

WINDOWS = range(4)
SPANS = [(first, last) for first in WINDOWS for last in WINDOWS if first <= last]


@dataclass
class Run:
    """A run of one window, or of a group: then its windows share this fate."""

    number: int
    windows: tuple[int, ...]
    token: str
    generation: int
    point: Point = Point.PLANNED
    status: RunStatus = RunStatus.OPEN


@dataclass(frozen=True)
class Commit:
    run: int
    windows: tuple[int, ...]
    token: str
    generation: int
    data: bool


@dataclass
class World:
    """A state store with a lease for each window, and a target with a number for each token."""

    runs: list[Run] = field(default_factory=list)
    receipts: set[int] = field(default_factory=set)
    epochs: dict[int, int] = field(default_factory=lambda: dict.fromkeys(WINDOWS, 0))
    log: list[Commit] = field(default_factory=list)

    def in_the_way(self, windows: tuple[int, ...]) -> Run | None:
        """An unfinished run that shares a window with these."""
        found = (run for run in reversed(self.runs) if run.status is RunStatus.OPEN and set(run.windows) & set(windows))
        return next(found, None)

    def plan(self, windows: tuple[int, ...]) -> Run:
        token = f"{windows[0]}" if len(windows) == 1 else f"group {windows[0]} to {windows[-1]}"
        known = [run.generation for run in self.runs if run.token == token]
        told = [commit.generation for commit in self.log if commit.token == token]
        self.runs.append(Run(len(self.runs), windows, token, 1 + max(known + told, default=0)))
        return self.runs[-1]

    def commit(self, run: Run, *, data: bool) -> None:
        if all(commit.generation < run.generation for commit in self.log if commit.token == run.token):
            self.log.append(Commit(run.number, run.windows, run.token, run.generation, data))

    def landed(self, run: Run) -> Answer:
        same = [commit for commit in self.log if commit.token == run.token]
        newest = max(same, key=lambda commit: commit.generation, default=None)
        if newest is None or newest.generation < run.generation:
            return Answer.ABSENT
        return Answer.MINE if newest.data and newest.run == run.number else Answer.SUPERSEDED


class Overtaken(Exception):
    """The store refuses a write: one of the leases has gone to another one."""


class Process:
    """A command that loads one window or several together, and can be left alone for ever after any of its moves."""

    def __init__(self, world: World, windows: tuple[int, ...]) -> None:
        self.world = world
        self.windows = windows
        for window in windows:
            world.epochs[window] += 1
        self.epochs = {window: world.epochs[window] for window in windows}
        self.run: Run | None = None
        self.burning: Run | None = None
        self.committing = False
        self.ended = False

    def move(self) -> None:
        """Up to the next place where it can die: a write to the store, or one to the target."""
        try:
            if self.burning is not None:
                self._burn(self.burning)
            elif self.run is None:
                self._settle_or_plan()
            else:
                self._step(self.run)
        except Overtaken:
            self.ended = True

    def _settle_or_plan(self) -> None:
        other = self.world.in_the_way(self.windows)
        if other is None:
            self._fence()
            self.run = self.world.plan(self.windows)
            return
        landed = self.world.landed(other) if other.point is Point.COMMITTING else Answer.ABSENT
        match course(other.point, landed, same_plan=False):
            case Course.REPLAN | Course.GIVE_WAY:
                self._close(other, RunStatus.ABANDONED)
            case Course.BURN:
                self.burning = other
            case Course.RESUME:
                self._record(other)

    def _burn(self, other: Run) -> None:
        self.burning = None
        self.world.commit(other, data=False)
        if self.world.landed(other) is Answer.MINE:
            self._record(other)
        else:
            self._close(other, RunStatus.ABANDONED)

    def _step(self, run: Run) -> None:
        if self.committing:
            # From here on no lease can hold it back: only the token can.
            self.committing = False
            self.world.commit(run, data=True)
            return
        if run.point is Point.PLANNED:
            self._fence()
            self._require_open(run)
            run.point = Point.COMMITTING
            self.committing = True
        elif self.world.landed(run) is Answer.MINE:
            self._record(run)
            self.ended = True
        else:
            self.ended = True

    def _record(self, run: Run) -> None:
        self._fence()
        if run.status is RunStatus.OPEN:
            self.world.receipts.add(run.number)
            run.status = RunStatus.SUCCEEDED

    def _close(self, run: Run, status: RunStatus) -> None:
        self._fence()
        if run.status is RunStatus.OPEN:
            run.status = status

    def _require_open(self, run: Run) -> None:
        if run.status is not RunStatus.OPEN:
            raise Overtaken

    def _fence(self) -> None:
        if any(self.world.epochs[window] != epoch for window, epoch in self.epochs.items()):
            raise Overtaken


class GroupProtocol(RuleBasedStateMachine):
    """Any number of processes over any spans, each moved, forgotten (killed) or moved much later (a zombie)."""

    processes = Bundle("processes")

    def __init__(self) -> None:
        super().__init__()
        self.world = World()

    @rule(target=processes, span=st.sampled_from(SPANS))
    def start(self, span: tuple[int, int]) -> Process:
        return Process(self.world, tuple(range(span[0], span[1] + 1)))

    @rule(process=processes, moves=st.integers(1, 6))
    def move(self, process: Process, moves: int) -> None:
        for _ in range(moves):
            if not process.ended:
                process.move()
                self.an_older_plan_never_lands_on_a_newer_one()

    @invariant()
    def an_older_plan_never_lands_on_a_newer_one(self) -> None:
        for window in WINDOWS:
            landed = [commit.run for commit in self.world.log if commit.data and window in commit.windows]
            assert landed == sorted(set(landed)), f"window {window}: {landed}"

    @invariant()
    def a_run_that_was_abandoned_never_lands(self) -> None:
        landed = {commit.run for commit in self.world.log if commit.data}
        assert not landed & {run.number for run in self.world.runs if run.status is RunStatus.ABANDONED}

    @invariant()
    def what_landed_and_is_over_has_its_receipts_and_nothing_else_has(self) -> None:
        landed = {commit.run for commit in self.world.log if commit.data}
        over = {run.number for run in self.world.runs if run.status is not RunStatus.OPEN}
        assert self.world.receipts <= landed
        assert landed & over <= self.world.receipts

    @invariant()
    def no_two_unfinished_runs_share_a_window(self) -> None:
        taken = [w for run in self.world.runs if run.status is RunStatus.OPEN for w in run.windows]
        assert len(taken) == len(set(taken))

    def teardown(self) -> None:
        """From wherever it has come to, one undisturbed command over everything finishes it."""
        last = Process(self.world, tuple(WINDOWS))
        for _ in range(60):
            if last.ended:
                break
            last.move()
        assert last.ended
        assert last.run is not None
        assert self.world.log[-1].run == last.run.number
        assert last.run.number in self.world.receipts
        self.an_older_plan_never_lands_on_a_newer_one()


GroupProtocol.TestCase.settings = settings(max_examples=400, stateful_step_count=30, deadline=None)
TestGroupProtocol = GroupProtocol.TestCase
