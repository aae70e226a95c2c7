"""Which backfill is meant: one of long ago, and one that another process is at."""

from __future__ import annotations

from datetime import UTC, datetime

from samewise import open_project
from samewise.core.windows import Window
from samewise.state import backfills, leases
from samewise.state.backfills import Backfill, BackfillStatus
from samewise.state.holders import Holder
from tests.support.project import Answer, Shop

SPAN = ("--from", "2026-04-24", "--to", "2026-04-27")


def _backfill(shop: Shop, *words: object) -> Answer:
    return shop.do("backfill", *words, "--json")


def _planned(shop: Shop, *, others: int = 0) -> Backfill:
    """A backfill as another definition planned it, and `others` that came and ended after it."""
    with open_project(shop.root) as project:
        first = datetime(2026, 4, 24, tzinfo=UTC)

        def plan() -> Backfill:
            span = Window(first, datetime(2026, 4, 27, tzinfo=UTC))
            pins = {"load": {"definition": "of long ago"}}
            store = project.store
            return backfills.create(store, "orders", span, newest_first=False, forced=False, pins=pins, windows=3)

        found = plan()
        for _ in range(others):
            backfills.set_status(project.store, plan().backfill_id, BackfillStatus.DONE)
    return found


def test_an_old_backfill_is_found_however_many_came_after_it(shop: Shop) -> None:
    old = _planned(shop, others=25)

    shown = _backfill(shop, "status", old.backfill_id)
    resumed = _backfill(shop, "resume")
    typed_again = _backfill(shop, "orders", *SPAN)

    assert [each["id"] for each in shown.json["backfills"]] == [old.backfill_id]
    for answer in (resumed, typed_again):
        assert answer.json["error"]["code"] == "definition_changed"
        assert old.backfill_id in answer.json["error"]["message"]


def test_a_backfill_that_another_process_runs_is_not_repinned(shop: Shop) -> None:
    found = _planned(shop)
    with open_project(shop.root) as project:
        leases.acquire(project.store, found.lease_target, "backfill", Holder.current(), 60)

        refused = _backfill(shop, "resume", "--repin")

        again = backfills.get(project.store, found.backfill_id)
    assert (refused.code, refused.json["error"]["code"]) == (75, "busy"), refused.text
    assert again is not None
    assert again.pins == found.pins
