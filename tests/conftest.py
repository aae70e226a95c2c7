from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.postgres import own_server, postgres_server
from tests.support.spark import test_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["own_server", "postgres_server", "spark"]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for the whole run."""
    session = test_session()
    yield session
    session.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With several workers, a file stays with one of them, and so do all crash tests: they share a Spark server."""
    for item in items:
        group = "crash" if item.path.parent.name == "crash" else item.path.name
        item.add_marker(pytest.mark.xdist_group(group))
