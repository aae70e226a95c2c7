from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crash import OwnProcess, SparkServer, Zygote
from tests.support.crash_postgres import postgres_project
from tests.support.crash_project import Stage
from tests.support.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]


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


@pytest.fixture(scope="session")
def postgres_stage(place: Path, server: SparkServer, zygote: Zygote, postgres_server: PostgresServer) -> Stage:
    """The same with its targets in PostgreSQL."""
    return Stage.build(place / "postgres", server, zygote, postgres_project(postgres_server))
