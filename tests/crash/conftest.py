from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crash import OwnProcess, SparkServer, Zygote
from tests.support.crash_project import Stage


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the crash tests keep everything."""
    return tmp_path_factory.mktemp("crash")


@pytest.fixture(scope="session")
def server(place: Path) -> Iterator[SparkServer]:
    """One Spark for all the commands that are killed."""
    started = SparkServer(place / "server")
    started.wait_until_ready()
    yield started
    started.stop()


@pytest.fixture(scope="session")
def zygote(place: Path) -> Iterator[Zygote]:
    started = Zygote(place / "commands")
    started.wait_until_ready()
    yield started
    started.stop()


@pytest.fixture(scope="session")
def own_process(place: Path) -> OwnProcess:
    return OwnProcess(place / "processes")


@pytest.fixture(scope="session")
def stage(place: Path, server: SparkServer, zygote: Zygote) -> Stage:
    """One project for most tests, so that what they start from is loaded only once."""
    return Stage.build(place / "stage", server, zygote)
