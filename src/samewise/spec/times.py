"""Durations, grains, dates and zones as a spec writes them."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, WithJsonSchema

from samewise.spec.fields import text_of, wrong
from samewise.spec.words import closest, shown

_DURATION = re.compile(r"([0-9]{1,9})(ms|s|m|h|d)")
_GRAIN = re.compile(r"([1-9][0-9]?)(m|h)")
_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
# Places of the zone database that are not zones, or that mean something else on another machine.
_NOT_ZONES = ("localtime", "posixrules", "Factory", "posix", "right")


def parse_duration(value: object) -> timedelta:
    """`500ms`, `30s`, `10m`, `2h`, `7d`."""
    if isinstance(value, timedelta):
        return value
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        raise wrong(f"must be a duration such as 500ms, 30s, 10m, 2h or 7d, not {shown(value)}")
    try:
        return int(match[1]) * _UNITS[match[2]]
    except OverflowError:
        raise wrong(f"{shown(value)} is too long a duration") from None


def parse_lag(value: object) -> timedelta:
    """The same, or `0s`: no lag at all, where someone has thought about it."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    return timedelta() if match is not None and int(match[1]) == 0 else parse_duration(value)


def format_duration(value: timedelta) -> str:
    """The shortest way to write it."""
    if not value:
        return "0s"
    for unit in ("d", "h", "m", "s"):
        if value % _UNITS[unit] == timedelta():
            return f"{value // _UNITS[unit]}{unit}"
    return f"{value // _UNITS['ms']}ms"


def parse_every(value: object) -> str:
    """A schedule's grain in its one spelling: `60m` and `1h` are `hour`, `24h` is `day`."""
    if isinstance(value, str):
        if value in ("hour", "day", "week", "month"):
            return value
        match = _GRAIN.fullmatch(value)
        if match is not None:
            count, unit = int(match[1]), match[2]
            if unit == "m" and 60 % count == 0:
                return "hour" if count == 60 else value
            if unit == "h" and 24 % count == 0:
                return {1: "hour", 24: "day"}.get(count, value)
            whole = "an hour" if unit == "m" else "a day"
            raise wrong(f"{value} does not divide {whole} into equal windows")
    raise wrong(f"must be 15m, hour, day, week, month, or minutes or hours such as 5m or 6h, not {shown(value)}")


def parse_moment(value: object) -> date | datetime:
    """A date, a local datetime or one with an offset. Which instant it is depends on the zone."""
    if isinstance(value, date):
        return value
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value) if len(value) > 10 else date.fromisoformat(value)
        except ValueError:
            pass
    raise wrong(f"must be a date such as 2026-04-01 or 2026-04-01T06:00, not {shown(value)}")


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo | None:
    """The zone called `name`; None where there is none."""
    if not name or name.split("/")[0] in _NOT_ZONES:
        return None
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return None


def _zone_name(value: object) -> str:
    name = text_of(value)
    if zone_of(name) is None:
        from zoneinfo import available_timezones

        meant = closest(name, available_timezones())
        hint = f", did you mean '{meant}'?" if meant else "; write one such as Europe/Berlin or UTC"
        raise wrong(f"unknown time zone {shown(value)}{hint}", meant=meant)
    return name


def _moment_json(value: date | datetime) -> str:
    return value.isoformat()


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": f"^{_DURATION.pattern}$"}),
]
Lag = Annotated[
    timedelta,
    BeforeValidator(parse_lag),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": f"^{_DURATION.pattern}$"}),
]
Every = Annotated[
    str,
    BeforeValidator(parse_every),
    WithJsonSchema({"type": "string", "pattern": "^(hour|day|week|month|[1-9][0-9]?[mh])$"}),
]
Moment = Annotated[
    date | datetime,
    # Plain, not before: pydantic must not turn a datetime at midnight into a date.
    PlainValidator(parse_moment),
    PlainSerializer(_moment_json, return_type=str),
    WithJsonSchema({"type": "string"}),
]
ZoneName = Annotated[str, BeforeValidator(_zone_name), WithJsonSchema({"type": "string", "minLength": 1})]
