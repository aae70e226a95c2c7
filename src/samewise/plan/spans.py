"""Which rows belong to a window, by the type of the column that says so."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from samewise.core.sql import Span
from samewise.plan.local_time import offset_changes_after_1970, starts_a_day, wall_time

if TYPE_CHECKING:
    from samewise.core.windows import Window
    from samewise.plan.grid import Every

WINDOW_COLUMN = "_samewise_window"
"""Holds the key of the window that loaded the row, where no column of the row itself says when it was."""


def window_span(column: str, type: str, window: Window, zone: ZoneInfo) -> Span:
    """The rows of `window`: a DATE by local dates, a TIMESTAMP by instants, a TIMESTAMP_NTZ by wall time.

    Raises ValueError for another type, and for a window that the type cannot tell from its neighbours.
    """
    if window.is_full:
        raise ValueError("the full window has no span: it is the whole table")
    match type.lower():
        case "date":
            return Span(column, _local_date(window, window.start, zone), _local_date(window, window.end, zone))
        case "timestamp" | "timestamp_ltz":
            return Span(column, window.start, window.end)
        case "timestamp_ntz":
            lower, upper = _wall_bound(window.start, zone), _wall_bound(window.end, zone)
            if lower >= upper:
                raise ValueError(f"no wall time in {zone.key} lies in {window.key} alone")
            return Span(column, lower, upper)
        case _:
            raise ValueError(_not_a_time(type))


def loaded_span(window: Window) -> Span:
    """The rows that were loaded for `window`, whatever time they carry themselves."""
    return Span(WINDOW_COLUMN, window.key)


def grain_problem(type: str, every: Every, zone: ZoneInfo) -> str | None:
    """Why windows of `every` cannot be told apart by a column of `type`; None if they can."""
    match type.lower():
        case "timestamp" | "timestamp_ltz":
            return None
        case "date":
            if every.is_below_a_day:
                return f"a window of every {every} over a DATE column would replace the whole day"
            return None
        case "timestamp_ntz":
            if every.is_below_a_day and offset_changes_after_1970(zone):
                return (
                    f"a window of every {every} over a TIMESTAMP_NTZ column is not clear in {zone.key}: "
                    "where the clock changes, two windows share a wall time; use TIMESTAMP, whole days or UTC"
                )
            return None
        case _:
            return _not_a_time(type)


def _local_date(window: Window, bound: datetime, zone: ZoneInfo) -> date:
    if not starts_a_day(zone, bound):
        raise ValueError(f"{window.key} is not made of whole local dates of {zone.key}, as a DATE column needs")
    return wall_time(zone, bound).date()


def _wall_bound(bound: datetime, zone: ZoneInfo) -> datetime:
    # Where midnight is skipped, a wall time in the gap carries the new date: it belongs to the new day.
    wall = wall_time(zone, bound)
    return datetime.combine(wall.date(), time()) if starts_a_day(zone, bound) else wall


def _not_a_time(type: str) -> str:
    return f"a window column is a DATE, a TIMESTAMP or a TIMESTAMP_NTZ, not {type.upper()}"
