"""Orders with the local date that they belong to; and, for who wants to see it, a death in the middle of them."""

import os
import signal
from collections.abc import Callable, Iterable
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from samewise import Context


def with_date(rows: DataFrame, context: Context) -> DataFrame:
    dated = rows.withColumn("order_date", f.to_date("placed_at"))
    at = os.environ.get("KILL_AT_ORDER")
    return dated if at is None else dated.mapInArrow(killing(int(at), os.getpid()), dated.schema)


def killing(order: int, samewise: int) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """Passes rows on until that order comes by. Then the samewise process dies, as if the power had gone."""

    def until(batches: Iterable[Any]) -> Iterable[Any]:
        for batch in batches:
            if order in batch.column("order_id").to_pylist():
                os.kill(samewise, signal.SIGKILL)
            yield batch

    return until
