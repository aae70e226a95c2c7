"""Every console session and every Python block of a page is run, in order, and does what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import AUDIT_PAGES, PAGES, ROOT, Block, blocks
from tests.docs.session import Session, matches
from tests.support.postgres import PostgresServer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# Whose pipelines a reader writes down, and then runs.
FOLLOWED = [ROOT / "docs" / "prove.md"]


def steps(of: Path) -> list[Block]:
    """What a reader of the page would run. A transform is run by the test of its pipeline."""
    if of in AUDIT_PAGES:
        return []
    return [
        block
        for block in blocks(of)
        if block.language == "console"
        or (block.language == "python" and not (block.file or "").startswith("pipelines/"))
        or (of in FOLLOWED and block.file is not None)
    ]


# One of the commands is killed together with a JVM of its own, which takes its time to start.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", [page for page in PAGES if steps(page)], ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_happens(
    page: Path,
    spark: SparkSession,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "psql" in "".join(block.text for block in steps(page)):
        server: PostgresServer = request.getfixturevalue("postgres_server")
        for name, value in server.environment(server.new_database()).items():
            monkeypatch.setenv(name, value)
    session = Session(tmp_path, {"spark": spark})
    for block in steps(page):
        session.follow(block)


def test_readme_shows_a_run_and_a_kill() -> None:
    shown = "".join(block.text for block in steps(ROOT / "README.md"))
    assert "$ samewise run orders_daily\n" in shown
    assert "SAMEWISE_FAILPOINT=" in shown


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("ok 2026-04-24  succeeded  5 rows  8.1 s\n", "ok 2026-04-24  succeeded  5 rows  12.3 s\n"),
        ("starting Spark (local[*])\ndone\n", "done\n"),
        ("a …\n", "a b c\n"),
        ("a\n…\nz\n", "a\nb\nc\nz\n"),
    ],
)
def test_what_differs_from_run_to_run_is_not_compared(shown: str, printed: str) -> None:
    assert matches(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("ok 2026-04-24  succeeded  5 rows  8.1 s\n", "ok 2026-04-24  succeeded  6 rows  8.1 s\n"),
        ("a\n", "a\nb\n"),
        ("a\n…\nz\n", "a\nb\n"),
        ("a …\n", "b c\n"),
    ],
)
def test_what_is_shown_otherwise_than_printed_is_found(shown: str, printed: str) -> None:
    assert not matches(shown, printed)
