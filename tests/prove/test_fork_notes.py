"""What a fork cannot show is told with the proof."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from samewise.core.records import Owner
from samewise.targets import delta_fork
from samewise.targets.delta import DeltaTarget
from samewise.wiring.target_forks import TargetForks

OWNER = Owner("scratch", "orders", "load", "samewise prove")


def _noted(target: Any, keyed: object, *, before: int | None, is_loaded: bool = False) -> str | None:
    job = cast(Any, SimpleNamespace(target=target, keyed=keyed, grid=None))
    return TargetForks("x", cast(Any, None)).clone(job, job, OWNER, (), before=before, is_loaded=is_loaded)


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_fork_in_postgresql_says_what_it_begins_with(monkeypatch: pytest.MonkeyPatch, is_whole: bool) -> None:
    monkeypatch.setattr(TargetForks, "_fork_in_postgres", lambda *_, **__: is_whole)
    table = SimpleNamespace(key="postgres:orders")
    landed = _noted(table, keyed=object(), before=3)
    assert landed is not None
    assert landed.startswith("postgres:orders: PostgreSQL keeps no older version")
    assert _noted(table, keyed=object(), before=None) is None
    replaced = _noted(table, keyed=None, before=3)
    assert (replaced is None) is is_whole
    assert is_whole or "other windows have more than 100,000 rows" in str(replaced)


def test_a_fork_in_postgresql_of_what_is_loaded_by_key_begins_without_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def forked(*_: object, rows: object, **__: object) -> bool:
        asked.append(rows)
        return True

    monkeypatch.setattr(TargetForks, "_fork_in_postgres", forked)
    table = SimpleNamespace(key="postgres:orders")
    note = _noted(table, keyed=object(), before=3, is_loaded=True)
    assert note is not None
    assert note.startswith("postgres:orders: PostgreSQL keeps no older version, so the forks begin without a row")
    # What is still to be loaded has something to write, so the rows of the others may be there.
    _noted(table, keyed=object(), before=3)
    assert asked == [False, True]


@pytest.mark.parametrize("found", [True, False])
def test_a_fork_of_the_newest_version_for_want_of_an_older_one_says_so(
    monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    monkeypatch.setattr(delta_fork, "clone", lambda *_, **__: found)
    note = _noted(DeltaTarget("/nowhere/orders", None, cast(Any, None)), keyed=None, before=3)
    assert (note is None) is found
    assert found or "its version before these windows is gone" in str(note)


@pytest.mark.parametrize("is_keyed", [True, False])
def test_where_the_older_version_is_gone_a_fork_of_what_is_loaded_by_key_begins_without_a_row(
    monkeypatch: pytest.MonkeyPatch, is_keyed: bool
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(delta_fork, "clone", lambda *_, or_none, **__: asked.append(or_none))
    target = DeltaTarget("/nowhere/orders", None, cast(Any, None))
    note = _noted(target, keyed=object() if is_keyed else None, before=3, is_loaded=True)
    assert asked == [is_keyed]
    assert ("the forks begin without a row" in str(note)) is is_keyed
