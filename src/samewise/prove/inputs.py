"""A source whose rows come in another layout, or not at all. What it pins, checks and refuses stays the source's own.

The frame is changed, not the files: that works alike for files, tables and databases, needs no copy of the data, and
no manifest or checksum can take the copy for a damaged delivery.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from samewise.core.errors import SamewiseError
from samewise.core.ports import Source
from samewise.core.records import Pins
from samewise.core.shapes import Fit, Shape
from samewise.core.windows import Window
from samewise.prove.laboratory import Twist

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EMPTY = "emptied:"


@dataclass(frozen=True, slots=True)
class TwistedSource:
    """Implements `core.ports.Source` over another one."""

    source: Source
    twist: Twist

    @property
    def pins_without_spark(self) -> bool:
        return bool(getattr(self.source, "pins_without_spark", False))

    def pin(self, window: Window) -> Pins:
        pins = self.source.pin(window)
        # Other rows, other fingerprint: so that the run that finds them restored knows it.
        return replace(pins, fingerprint=_EMPTY + pins.fingerprint) if self.twist.empty else pins

    def check(self, pins: Pins) -> None:
        self.source.check(_own(pins))

    def shapes(self, pins: Pins) -> Sequence[Shape]:
        return self.source.shapes(_own(pins))

    def read(self, pins: Pins, window: Window, fits: Sequence[Fit] | None = None) -> DataFrame:
        rows = self.source.read(_own(pins), window, fits)
        if self.twist.empty:
            return rows.where("false")
        return rows if self.twist.seed is None else _shuffled(rows, self.twist.seed, self.twist.partitions or 1)

    def explain_failure(self, error: Exception, pins: Pins) -> SamewiseError | None:
        return self.source.explain_failure(error, _own(pins))

    def malformed(self, pins: Pins) -> DataFrame | None:
        return self.source.malformed(_own(pins))

    def release(self, pins: Pins) -> None:
        self.source.release(_own(pins))


def _own(pins: Pins) -> Pins:
    return replace(pins, fingerprint=pins.fingerprint.removeprefix(_EMPTY))


def _shuffled(rows: DataFrame, seed: int, partitions: int) -> DataFrame:
    """Every row in a place that depends on its values and the seed alone: another seed, another order."""
    from pyspark.sql import functions as f

    # A map has no hash in Spark.
    names = [field.name for field in rows.schema.fields if "map<" not in field.dataType.simpleString()]
    columns = [rows[f"`{name.replace('`', '``')}`"] for name in names]
    if not columns:
        return rows.repartition(partitions)
    place = f.xxhash64(f.lit(seed), *columns)
    return rows.repartition(partitions, place).sortWithinPartitions(f.xxhash64(f.lit(-seed), *columns))
