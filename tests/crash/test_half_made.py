"""A process can die inside a step too: what Delta leaves then must not be in the next run's way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.crash_project import (
    DAYS,
    ORDERS,
    RATES,
    Stage,
    assert_nothing_is_left,
    order_rows,
    rate_rows,
)

LEFT = {
    "an empty folder": [],
    "a log without a commit": ["_delta_log/"],
    "a commit that was never named": ["_delta_log/.00000000000000000000.json.0a1b2c3d.tmp"],
}


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("pipeline", ["plain", "rates"])
def test_a_table_whose_creation_was_cut_off_is_made_by_the_next_run(stage: Stage, pipeline: str, left: str) -> None:
    project = stage.set_back("new")
    table = Path(project.table_path(pipeline))
    table.mkdir(parents=True)
    for name in LEFT[left]:
        place = table / name
        place.parent.mkdir(exist_ok=True)
        if name.endswith("/"):
            place.mkdir()
        else:
            place.write_text("{")
    window = [] if pipeline == "rates" else ["--window", DAYS[0]]

    project.call("run", pipeline, *window).well()

    first_day = order_rows({DAYS[0]: ORDERS[DAYS[0]]}, upper=False)
    assert project.rows(pipeline) == (rate_rows(RATES) if pipeline == "rates" else first_day)
    assert_nothing_is_left(project)
    assert project.call("run", pipeline, *window).well().status == "unchanged"
