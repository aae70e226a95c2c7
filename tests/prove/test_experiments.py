"""Experiments on made-up forks, for runs that go wrong in ways in which Samewise's own do not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from samewise.core.windows import Window
from samewise.prove import judge, report
from samewise.prove.clean import Clean
from samewise.prove.concurrent import concurrent
from samewise.prove.empty import empty
from samewise.prove.foreign import bench, experiments
from samewise.prove.foreign.bench import Bench, Copies, Job
from samewise.prove.foreign.call import Call, Kill
from samewise.prove.foreign.call import Ran as ForeignRan
from samewise.prove.foreign.folders import FolderPlace
from samewise.prove.foreign.places import named
from samewise.prove.laboratory import AS_IT_IS, Fork, Laboratory, Ran, Start, Table, Twist
from samewise.prove.order import order
from samewise.prove.twice import twice
from samewise.prove.verdict import Cause, Difference, Figures, Outcome, Proof, RowExample, RowKind, Verdict
from samewise.run.results import Status, WindowResult

DAYS = [datetime(2026, 4, day, tzinfo=UTC) for day in (24, 25)]
WINDOWS = [Window(day, day + timedelta(days=1)) for day in DAYS]
FIGURES = Figures(2, (), "x")


def _ran(status: Status = Status.SUCCEEDED, rows: int = 2) -> Ran:
    return Ran([WindowResult("load", WINDOWS[-1], "", status, rows_written=rows)], 0.1)


@dataclass
class MadeUp:
    """A fork whose table is the clean run's, whatever its runs say."""

    answers: Callable[[Twist, bool], Ran]
    rows: int = 2
    wrote_something: bool = True
    windows: Mapping[str, int] = field(default_factory=dict)
    differs: bool = False

    def run(self, windows: Sequence[Window], *, force: bool = False, twist: Twist = AS_IT_IS, lane: int = 0) -> Ran:
        return self.answers(twist, force)

    def tables(self) -> list[Table]:
        return [Table("load", "orders", cast(Any, None), (), "replace_window")]

    def others(self) -> list[Table]:
        return self.tables()

    def total(self) -> int:
        return self.rows

    def identity(self, task: str) -> str:
        return "another" if self.differs else "the clean one"

    def differs_elsewhere(self, task: str, clean: Fork, rows: int) -> bool:
        assert rows == FIGURES.rows
        return self.differs

    def wrote(self) -> dict[str, bool]:
        return {"load": self.wrote_something}

    def window_rows(self, window: Window) -> Mapping[str, int]:
        return self.windows


@dataclass
class Lab:
    made: MadeUp
    kind: str = "clear"
    windows: Sequence[Window] = tuple(WINDOWS)
    is_incremental: bool = False

    @property
    def on_empty(self) -> dict[str, str]:
        return {"load": self.kind}

    def label(self, window: Window) -> str:
        return f"{window.start:%F}"

    @contextmanager
    def fork(self, start: Start) -> Iterator[Fork]:
        yield cast(Fork, self.made)


def tried(experiment: Callable[[Laboratory, Clean], Iterator[Verdict]], made: MadeUp, kind: str = "clear") -> Verdict:
    """The experiment's last verdict."""
    known = {("load", "the clean one"): FIGURES}
    clean = Clean(
        made.tables(),
        {"load": FIGURES},
        {"load": True},
        total=2,
        seconds=1.0,
        others=made.tables(),
        fork=cast(Fork, made),
        known=known,
    )
    return list(experiment(cast(Laboratory, Lab(made, kind)), clean))[-1]


@pytest.mark.parametrize("kind", ["clear", "keep", "by key"])
@pytest.mark.parametrize("emptied", [True, False], ids=["emptied", "restored"])
def test_an_emptied_or_restored_run_that_was_passed_over_is_void_though_the_rows_are_right(
    emptied: bool, kind: str
) -> None:
    def answers(twist: Twist, force: bool) -> Ran:
        return _ran(Status.UNCHANGED if twist.empty is emptied else Status.SUCCEEDED, rows=0 if twist.empty else 2)

    verdict = tried(empty, MadeUp(answers), kind)
    assert (verdict.outcome, verdict.message) == (
        Outcome.VOID,
        "the run was passed over as unchanged, so nothing was tried",
    )
    assert tried(empty, MadeUp(lambda twist, force: _ran()), kind).outcome is Outcome.SAME


def test_one_task_of_several_that_was_passed_over_makes_the_emptied_run_void() -> None:
    def answers(twist: Twist, force: bool) -> Ran:
        other = WindowResult("first", WINDOWS[-1], "", Status.SUCCEEDED, rows_written=0)
        return Ran([other, *_ran(Status.UNCHANGED).results], 0.1)

    verdict = tried(empty, MadeUp(answers))
    assert (verdict.outcome, verdict.message) == (
        Outcome.VOID,
        "load was passed over as unchanged, though its input is another",
    )


def test_an_emptied_window_without_a_commit_is_void() -> None:
    verdict = tried(empty, MadeUp(lambda twist, force: _ran(), wrote_something=False))
    assert (verdict.outcome, verdict.message) == (Outcome.VOID, "nothing was written by load: a token skipped it")


def test_rows_that_stay_in_a_window_that_was_to_be_cleared_are_told() -> None:
    made = MadeUp(lambda twist, force: _ran(rows=0 if twist.empty else 2), windows={"load": 2})
    verdict = tried(empty, made)
    assert (verdict.outcome, verdict.message) == (
        Outcome.FAILED,
        "the window was emptied, and load still holds its old rows",
    )


@pytest.mark.parametrize("experiment", [twice, order])
def test_a_replay_that_was_passed_over_or_never_landed_is_void_though_the_rows_are_right(experiment: Any) -> None:
    def answers(twist: Twist, force: bool) -> Ran:
        return _ran(Status.UNCHANGED if force else Status.SUCCEEDED)

    assert "passed over as unchanged" in tried(experiment, MadeUp(answers)).message
    unlanded = tried(experiment, MadeUp(lambda twist, force: _ran(), wrote_something=False))
    assert (unlanded.outcome, unlanded.message) == (Outcome.VOID, "nothing was written by load: a token skipped it")
    # By key, rows that are there already need no commit.
    by_key = MadeUp(lambda twist, force: _ran(), wrote_something=False)
    if experiment is twice:
        assert tried(experiment, by_key, "by key").outcome is Outcome.SAME


def test_rows_of_other_windows_that_changed_are_shown_with_their_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    row = RowExample(RowKind.MISSING, {"order_id": "1", "day": "2026-04-24"})
    gone = Difference(Figures(2, (), "y"), Figures(1, (), "z"), missing=1, examples=(row,))
    monkeypatch.setattr(judge, "compare", lambda clean, found, key: (gone.found, gone))
    made = MadeUp(lambda twist, force: _ran(), rows=1)
    verdict = tried(twice, made)
    assert (verdict.outcome, verdict.cause, verdict.difference) == (Outcome.DIFFERENT, Cause.OTHER_WINDOWS, gone)
    text = "\n".join(report.text(Proof("orders", "delta:orders", (), FIGURES, (verdict,), 1.0)))
    assert "rows of other windows changed: 1 in all, 2 after one clean run" in text
    assert "missing    order_id=1, day=2026-04-24" in text
    assert "likely: the run changed rows of windows that it was not asked for" in text


def test_rows_of_other_windows_with_other_values_are_shown_though_there_are_as_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = RowExample(RowKind.CHANGED, {"order_id": "1"}, changes={"amount": ("1", "2")})
    other = Difference(Figures(2, (), "y"), Figures(2, (), "z"), changed=1, examples=(row,))

    def compared(clean: Any, found: Any, key: Any, clean_figures: Figures | None = None) -> Any:
        return (FIGURES, None) if clean_figures is not None else (other.found, other)

    monkeypatch.setattr(judge, "compare", compared)
    verdict = tried(twice, MadeUp(lambda twist, force: _ran(), differs=True))
    assert (verdict.outcome, verdict.cause, verdict.difference) == (Outcome.DIFFERENT, Cause.OTHER_WINDOWS, other)
    assert verdict.message.startswith(
        "rows of other windows changed: 2 in all as after one clean run, with other values"
    )


def test_two_runners_that_both_look_before_either_writes_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    together, one_at_a_time = threading.Barrier(2), threading.Lock()
    made = MadeUp(lambda twist, force: _ran(), rows=0)

    def answers(twist: Twist, force: bool) -> Ran:
        is_empty = made.rows == 0
        together.wait(10)
        with one_at_a_time:
            made.rows += 2 if is_empty else 0
        return _ran()

    made.answers = answers
    monkeypatch.setattr(judge, "compare", lambda *_, **__: (FIGURES, None))
    verdict = tried(concurrent, made)
    assert (verdict.outcome, verdict.counts) == (Outcome.DIFFERENT, (4,))
    assert "4 in all, 2 after one clean run" in verdict.message


def test_two_commands_that_both_look_before_either_appends_are_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It appends what is not there yet: safe one after the other. Rows are lines here, and need no Spark.
    together = threading.Barrier(2)

    def job(call: Call, kill: Kill | None = None, *, expected_seconds: float | None = None) -> ForeignRan:
        target = Path(call.words["target"])
        is_new = not target.exists()
        together.wait(10)
        with target.open("a") as file:
            file.write("1\n2\n" if is_new else "")
        return ForeignRan(0, 0.1)

    def compared(clean: Any, found: list[str], *_: Any, clean_figures: Figures) -> tuple[Figures, Difference | None]:
        figures = Figures(len(found), (), "found")
        return figures, Difference(clean_figures, figures, doubled=len(found) - 2) if len(found) != 2 else None

    monkeypatch.setattr(bench, "compare", compared)
    monkeypatch.setattr(Bench, "rows", lambda self, copy, like: Path(copy.words["target"]).read_text().splitlines())
    place = FolderPlace(named(f"file:{tmp_path / 'orders'}"), tmp_path / "scratch")
    base = Copies(place.snapshot(place.copy("base")), None, None)
    clean = bench.Clean(base, base, cast(Any, ["1", "2"]), FIGURES, None, 0.1)
    on = Bench(Job("job", job, place), lambda: cast(Any, None))
    (verdict,) = experiments.concurrent(on, clean)
    assert (verdict.outcome, verdict.counts) == (Outcome.DIFFERENT, (4,))
    assert verdict.cause is Cause.APPEND
