"""`samewise init`: a project that runs as it is, with data that is the same on every machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from itertools import islice
from pathlib import Path
from string import Template
from zoneinfo import ZoneInfo

from samewise.core.errors import ConfigError, UsageError
from samewise.core.windows import instant_text

FIRST_DAY = date(2026, 4, 24)
DAYS = 7
ZONE = ZoneInfo("Europe/Berlin")
# samewise.yaml comes last: it is what makes the folder a project, so a half-written one is not taken for one.
_TEMPLATES = {
    "orders": ("gitignore", "README.md", "pipelines/orders.sql", "pipelines/orders_daily.yaml", "samewise.yaml"),
    "postgres": (
        *("gitignore", "README.md", "setup.sql", "pipelines/orders.py", "pipelines/customers.sql"),
        *("pipelines/shop_daily.yaml", "samewise.yaml"),
    ),
}
EXAMPLES = tuple(_TEMPLATES)
FIRST_COMMANDS = {
    "orders": ("samewise run orders_daily --dry-run", "samewise run orders_daily"),
    "postgres": ("psql -f setup.sql", "samewise run shop_daily --dry-run", "samewise run shop_daily"),
}
"""What a person types next."""
_HEADER = "order_id,customer_id,amount,status,updated_at,order_date"
_STATUSES = ("new", "paid", "sent")


@dataclass(frozen=True, slots=True)
class Order:
    """One line of a CSV file: an order, as it stood at `updated_at`."""

    order_id: int
    customer_id: int
    amount_cents: int
    status: str
    updated_at: datetime
    order_date: date

    @property
    def line(self) -> str:
        amount = _amount(self.amount_cents)
        moment = instant_text(self.updated_at)
        return f"{self.order_id},{self.customer_id},{amount},{self.status},{moment},{self.order_date}"


def write_example(folder: Path, name: str = "orders") -> list[Path]:
    """Write the example `name` into `folder` and return the files, in the order of writing.

    A second call is refused, as is any folder that holds something: nothing is ever overwritten.
    """
    if name not in EXAMPLES:
        raise UsageError(f"there is no example {name!r}", next_step=f"choose one of: {', '.join(EXAMPLES)}")
    _refuse_an_occupied(folder)
    try:
        landing = _write_landing(folder / "landing" / "orders") if name == "orders" else ()
        return [*landing, *_write_templates(folder, name)]
    except OSError as error:
        raise ConfigError(
            f"the example cannot be written to {folder}: {error}",
            kept=f"what was written so far is in {folder}",
            next_step="remove that folder and name one that can be written",
        ) from error


def orders_of(day: date) -> list[Order]:
    """The orders that arrive for one local day: about 2,000, some of them twice, with a newer status."""
    number = (day - FIRST_DAY).days
    dice = _dice(seed=number)
    midnight = datetime.combine(day, time(), ZONE).astimezone(UTC)
    orders: list[Order] = []
    for index in range(1700 + next(dice) % 200):
        placed = midnight + timedelta(seconds=next(dice) % 72_000)
        order = Order(
            order_id=100_000 * (number + 1) + index,
            customer_id=1 + next(dice) % 500,
            amount_cents=100 + next(dice) % 49_900,
            status=_STATUSES[0],
            updated_at=placed,
            order_date=day,
        )
        orders.append(order)
        for status in _STATUSES[1 : 1 + max(0, next(dice) % 20 - 17)]:
            placed += timedelta(seconds=60 + next(dice) % 3_600)
            orders.append(replace(order, status=status, updated_at=placed))
    return sorted(orders, key=lambda order: (order.updated_at, order.order_id))


def _refuse_an_occupied(folder: Path) -> None:
    next_step = "name a new folder: samewise init shop"
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file", kept="nothing was written", next_step=next_step)
    if (folder / "samewise.yaml").exists():
        raise UsageError(f"{folder} is a project already", kept="nothing was written", next_step=next_step)
    # A repository that was just made is as good as empty.
    if folder.exists() and any(entry.name != ".git" for entry in folder.iterdir()):
        raise UsageError(f"{folder} is not empty", kept="nothing was written", next_step=next_step)


def _write_landing(landing: Path) -> Iterator[Path]:
    for number in range(DAYS):
        day = FIRST_DAY + timedelta(days=number)
        folder = landing / day.isoformat()
        folder.mkdir(parents=True)
        orders = orders_of(day)
        parts = 2 + number % 2
        size = -(-len(orders) // parts)
        rest = iter(orders)
        for part in range(parts):
            lines = [order.line for order in islice(rest, size)]
            yield _write(folder / f"part-{part}.csv", "\n".join([_HEADER, *lines]) + "\n")
        total = _amount(sum(order.amount_cents for order in orders))
        promise = {"rows": len(orders), "sums": {"amount": total}}
        yield _write(folder / "manifest.json", json.dumps(promise) + "\n")


def _write_templates(folder: Path, name: str) -> Iterator[Path]:
    templates = files("samewise.cli.examples") / name
    project = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_") or "shop"
    for template in _TEMPLATES[name]:
        text = (templates / template).read_text(encoding="utf-8")
        place = ".gitignore" if template == "gitignore" else template
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        yield _write(folder / place, Template(text).substitute(project=project))


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _amount(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _dice(seed: int) -> Iterator[int]:
    # Not the random module: its sequences are promised for random() alone, and the sample rows,
    # their sums and hashes should be the same under every Python.
    state = seed
    while True:
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        yield state >> 33
