"""The commit protocol, played through: attempts that are killed anywhere and zombies that commit late."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from samewise.core.records import Answer, Point, RunStatus
from samewise.plan.protocol import Course, Progress, Step, course, next_step, planned_steps

POINTS = list(Point)
BEFORE_COMMITTING = POINTS[: POINTS.index(Point.COMMITTING)]
EVERY_PROGRESS = [
    Progress(point, own, stages) for point, own, stages in itertools.product(Point, (True, False), (True, False))
]
_REACHED = {Step.CHECK: Point.CHECKED, Step.STAGE: Point.STAGED, Step.VERIFY: Point.VERIFIED}


@pytest.mark.parametrize("landed", list(Answer))
@pytest.mark.parametrize("progress", EVERY_PROGRESS)
def test_there_is_a_next_step_from_everywhere(progress: Progress, landed: Answer) -> None:
    assert next_step(progress, landed) in Step


@pytest.mark.parametrize("progress", EVERY_PROGRESS)
@pytest.mark.parametrize("landed", [Answer.ABSENT, Answer.SUPERSEDED])
def test_only_a_commit_that_is_mine_is_checkpointed(progress: Progress, landed: Answer) -> None:
    assert next_step(progress, landed) is not Step.CHECKPOINT


@pytest.mark.parametrize("landed", list(Answer))
@pytest.mark.parametrize("progress", [progress for progress in EVERY_PROGRESS if not progress.own])
def test_what_another_attempt_prepared_is_never_committed(progress: Progress, landed: Answer) -> None:
    assert next_step(progress, landed) not in (Step.STAGE, Step.VERIFY, Step.COMMIT)


def test_a_run_that_stages_commits_only_what_it_verified() -> None:
    progress = [Progress(point, own=True, stages=True) for point in BEFORE_COMMITTING]
    ready = [one.point for one in progress if next_step(one, Answer.ABSENT) is Step.COMMIT]
    assert ready == [Point.VERIFIED]


def test_a_dry_run_shows_every_step_in_order() -> None:
    assert planned_steps(stages=True) == [step for step in Step if step is not Step.GIVE_WAY]


@pytest.mark.parametrize("same_plan", [True, False])
@pytest.mark.parametrize("landed", list(Answer))
@pytest.mark.parametrize("point", list(Point))
def test_a_run_that_may_have_committed_is_never_planned_over_without_burning_its_token(
    point: Point, landed: Answer, same_plan: bool
) -> None:
    chosen = course(point, landed, same_plan=same_plan)
    assert chosen is not Course.REPLAN or point in BEFORE_COMMITTING
    assert chosen is not Course.BURN or (point is Point.COMMITTING and landed is Answer.ABSENT)


@dataclass
class Run:
    """A run's row in the state store."""

    number: int
    generation: int
    point: Point = Point.PLANNED
    status: RunStatus = RunStatus.OPEN


@dataclass(frozen=True)
class Commit:
    """A commit on the target; `data` is False for a burned token."""

    run: int
    generation: int
    data: bool


@dataclass
class World:
    """A state store and a target, each with the one guarantee that the protocol builds on."""

    runs: list[Run] = field(default_factory=list)
    receipts: list[int] = field(default_factory=list)
    epoch: int = 0
    log: list[Commit] = field(default_factory=list)

    def open_run(self) -> Run | None:
        return next((run for run in reversed(self.runs) if run.status is RunStatus.OPEN), None)

    def plan(self) -> Run:
        highest = max([run.generation for run in self.runs] + [commit.generation for commit in self.log], default=0)
        self.runs.append(Run(len(self.runs), highest + 1))
        return self.runs[-1]

    def commit(self, run: Run, *, data: bool) -> None:
        """What the target does: a token that is not higher than the last one is passed over."""
        if all(commit.generation < run.generation for commit in self.log):
            self.log.append(Commit(run.number, run.generation, data))

    def landed(self, run: Run) -> Answer:
        """What the target says: by the identity in its newest commit, never by the token alone."""
        newest = max(self.log, key=lambda commit: commit.generation, default=None)
        if newest is None or newest.generation < run.generation:
            return Answer.ABSENT
        return Answer.MINE if newest.data and newest.run == run.number else Answer.SUPERSEDED


class Overtaken(Exception):
    """The store refuses a write: the lease has gone to another one."""


class Process:
    """One `samewise run`, which can be left alone for ever after any of its moves."""

    def __init__(self, world: World, *, stages: bool, same_plan: bool) -> None:
        self.world = world
        self.stages = stages
        self.same_plan = same_plan
        world.epoch += 1
        self.epoch = world.epoch
        self.run: Run | None = None
        self.point = Point.PLANNED
        self.own = False
        self.about_to_commit = False
        self.about_to_burn: Run | None = None
        self.ended = False

    def move(self) -> None:
        """Up to the next place where it can die: a write to the store, or one to the target."""
        try:
            if self.run is None:
                self._find_a_run()
            else:
                self._step(self.run)
        except Overtaken:
            self.ended = True

    def _find_a_run(self) -> None:
        world = self.world
        if self.about_to_burn is not None:
            burned, self.about_to_burn = self.about_to_burn, None
            world.commit(burned, data=False)
            if world.landed(burned) is not Answer.MINE:
                self._close(burned, RunStatus.ABANDONED)
            return
        found = world.open_run()
        if found is None:
            self._fence()
            self._take(world.plan())
            return
        match course(found.point, world.landed(found), same_plan=self.same_plan):
            case Course.RESUME:
                self._take(found)
            case Course.REPLAN:
                self._close(found, RunStatus.ABANDONED)
            case Course.GIVE_WAY:
                self._close(found, RunStatus.SUPERSEDED)
            case Course.BURN:
                self.about_to_burn = found

    def _take(self, run: Run) -> None:
        self.run = run
        self.point = run.point if run.point not in BEFORE_COMMITTING else Point.PLANNED

    def _step(self, run: Run) -> None:
        if self.about_to_commit:
            # From here on no lease can hold it back: only the token can.
            self.about_to_commit = False
            self.world.commit(run, data=True)
            return
        landed = self.world.landed(run) if self.point is Point.COMMITTING else Answer.ABSENT
        match step := next_step(Progress(self.point, self.own, self.stages), landed):
            case Step.CHECK | Step.STAGE | Step.VERIFY:
                self._advance(run, _REACHED[step])
            case Step.COMMIT:
                self._advance(run, Point.COMMITTING)
                self.about_to_commit = True
            case Step.CHECKPOINT:
                self._advance(run, Point.CHECKPOINTED)
                if run.number not in self.world.receipts:
                    self.world.receipts.append(run.number)
            case Step.DELIVER:
                self._advance(run, Point.DELIVERED)
            case Step.CLEAN_UP:
                self._close(run, RunStatus.SUCCEEDED)
                self.ended = True
            case Step.GIVE_WAY:
                self._close(run, RunStatus.SUPERSEDED)
                self.ended = True

    def _advance(self, run: Run, point: Point) -> None:
        self._fence()
        if POINTS.index(point) >= POINTS.index(run.point):
            run.point = point
        self.point, self.own = point, True

    def _close(self, run: Run, status: RunStatus) -> None:
        self._fence()
        assert run.status is RunStatus.OPEN
        run.status = status

    def _fence(self) -> None:
        if self.epoch != self.world.epoch:
            raise Overtaken


class Protocol(RuleBasedStateMachine):
    """Any number of processes, each moved, forgotten (killed) or moved much later (a zombie), in any order."""

    processes = Bundle("processes")

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.furthest: dict[int, int] = {}

    @rule(target=processes, stages=st.booleans(), same_plan=st.booleans())
    def start(self, stages: bool, same_plan: bool) -> Process:
        return Process(self.world, stages=stages, same_plan=same_plan)

    @rule(process=processes, moves=st.integers(1, 8))
    def move(self, process: Process, moves: int) -> None:
        for _ in range(moves):
            if not process.ended:
                process.move()
                self.no_run_lands_twice()

    @invariant()
    def no_run_lands_twice(self) -> None:
        carried = [commit.run for commit in self.world.log if commit.data]
        assert len(carried) == len(set(carried))

    @invariant()
    def only_what_landed_is_checkpointed(self) -> None:
        carried = {commit.run for commit in self.world.log if commit.data}
        assert set(self.world.receipts) <= carried

    @invariant()
    def a_run_that_was_abandoned_never_lands(self) -> None:
        carried = {commit.run for commit in self.world.log if commit.data}
        abandoned = {run.number for run in self.world.runs if run.status is RunStatus.ABANDONED}
        assert not carried & abandoned

    @invariant()
    def a_run_that_landed_is_not_forgotten(self) -> None:
        carried = {commit.run for commit in self.world.log if commit.data}
        for run in self.world.runs:
            if run.number in carried and run.status is not RunStatus.OPEN:
                assert run.number in self.world.receipts

    @invariant()
    def only_a_run_that_was_overtaken_gives_way(self) -> None:
        for run in self.world.runs:
            if run.status is RunStatus.SUPERSEDED:
                assert self.world.landed(run) is Answer.SUPERSEDED

    @invariant()
    def the_stored_point_never_goes_back(self) -> None:
        for run in self.world.runs:
            reached = POINTS.index(run.point)
            assert reached >= self.furthest.get(run.number, 0)
            self.furthest[run.number] = reached

    @invariant()
    def at_most_one_run_is_open(self) -> None:
        assert sum(run.status is RunStatus.OPEN for run in self.world.runs) <= 1

    def teardown(self) -> None:
        """From wherever it has come to, one undisturbed command finishes it, and leaves its own rows on top."""
        last = Process(self.world, stages=True, same_plan=True)
        for _ in range(30):
            if last.ended:
                break
            last.move()
            self.no_run_lands_twice()
        assert last.ended
        assert last.run is not None
        assert last.run.status is RunStatus.SUCCEEDED
        assert self.world.open_run() is None
        newest = self.world.log[-1]
        assert newest.data
        assert newest.run == last.run.number


Protocol.TestCase.settings = settings(max_examples=300, stateful_step_count=30, deadline=None)
TestProtocol = Protocol.TestCase
