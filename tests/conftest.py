from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


# The long ones first: a file that takes minutes and starts last leaves the other worker idle.
_SLOW_ROOMS = ["crash", "acceptance", "prove", "contract", "property", "docs"]
_TESTS = Path(__file__).parent


def pytest_configure() -> None:
    """A failpoint in the environment of whoever runs the tests would kill them, fixtures of a whole file included."""
    os.environ.pop("SAMEWISE_FAILPOINT", None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _rank(item.path.relative_to(_TESTS).parts[0]))


def _rank(room: str) -> int:
    return _SLOW_ROOMS.index(room) if room in _SLOW_ROOMS else len(_SLOW_ROOMS)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """As `--dist loadfile`, in the order above, and with one worker for the whole room of crashes: what those tests
    have in common (a Spark server, a loaded project, the clean runs) would otherwise be made by each worker."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByRoom(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return "tests/crash" if nodeid.startswith("tests/crash/") else str(super()._split_scope(nodeid))

    config.option.loadscopereorder = False
    return ByRoom(config, log)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for the whole run."""
    session = test_session()
    yield session
    session.stop()
