from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.support.postgres import own_server, postgres_server
from tests.support.spark import test_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["own_server", "postgres_server", "spark"]

# A red build must be the fault of the commit: the same examples every time, and no clock.
# `HYPOTHESIS_PROFILE=explore make test` looks for new ones; what it finds becomes an @example.
_UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _UNHURRIED, derandomize=True)
settings.register_profile("explore", _UNHURRIED, max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


def pytest_configure() -> None:
    """A failpoint in the environment of whoever runs the tests would kill them, fixtures of a whole file included."""
    os.environ.pop("SAMEWISE_FAILPOINT", None)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for the whole run."""
    session = test_session()
    yield session
    session.stop()
