from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.postgres import own_server, postgres_server
from tests.support.spark import test_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["own_server", "postgres_server", "spark"]


def pytest_configure() -> None:
    """A failpoint in the environment of whoever runs the tests would kill them, fixtures of a whole file included."""
    os.environ.pop("SAMEWISE_FAILPOINT", None)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for the whole run."""
    session = test_session()
    yield session
    session.stop()
