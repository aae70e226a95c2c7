"""Figures that are taken while rows pass by, so that measuring costs no pass of its own."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

_WAIT_SECONDS = 5.0


def observed(rows: DataFrame, expressions: Mapping[str, str]) -> tuple[DataFrame, Observation]:
    """The same rows, and figures about them that are there once the rows have been written."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    observation = Observation()
    columns = [f.expr(sql).alias(name) for name, sql in expressions.items()]
    return rows.observe(observation, *columns), observation


def figures(observation: Observation) -> dict[str, Any] | None:
    """What was observed; None if Spark left the observed rows out of its plan.

    Asked only after the write, when an answer is a matter of milliseconds: for rows that were optimised
    away (`WHERE false`, a join with nothing) Spark would let the caller wait for ever. Spark Connect does
    not wait, and gives nothing also for rows that went through a view: an empty answer is no answer.
    """
    answer: list[dict[str, Any]] = []

    def ask() -> None:
        # Of a write without a single task, as of an empty span, Spark gives a row that cannot be read.
        with suppress(Exception):
            answer.append(observation.get)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_WAIT_SECONDS)
    return dict(answer[0]) if answer and answer[0] else None
