"""The pytest plugin. It is there as soon as Samewise is installed, and imports nothing until a test asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from samewise.prove.verdict import Proof
    from samewise.wiring.project import Project

_OPTION = "samewise_project"
_WIDTH = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("samewise", "Samewise: is it safe to run again?")
    group.addoption(
        "--samewise-project",
        metavar="DIR",
        default=None,
        help="The project of the fixtures `samewise_project` and `prove`; else the ini option, else found upwards.",
    )
    parser.addini(_OPTION, "The folder of the Samewise project, from the folder of this file.", default="")


@pytest.fixture(scope="session")
def samewise_spark() -> SparkSession:
    """A Spark session: the active one, else a small local one with Delta. Override it to bring your own."""
    from samewise.testing.session import shared_session

    return shared_session()


@pytest.fixture(scope="session")
def samewise_project(request: pytest.FixtureRequest) -> Iterator[Project]:
    """The project that `--samewise-project`, or `samewise_project` in the ini file, names; else the nearest one."""
    from samewise.wiring.project import open_project

    with open_project(_folder(request.config), spark=_session(request)) as project:
        yield project


@pytest.fixture
def prove(request: pytest.FixtureRequest) -> Callable[..., Proof]:
    """`prove("orders_daily", window="2026-04-25")` fails the test unless every experiment leaves the same table.

    Takes what `Project.prove` takes, and `project=` for a project (or its folder) other than `samewise_project`.
    Gives the proof, for whoever wants to look at the figures.
    """

    def check(pipeline: str, *, project: Project | str | Path | None = None, **asked: Any) -> Proof:
        __tracebackhide__ = True
        from samewise.wiring.project import Project, open_project

        if isinstance(project, Project):
            return _checked(project.prove(pipeline, **asked))
        if project is not None:
            with open_project(project, spark=_session(request)) as opened:
                return _checked(opened.prove(pipeline, **asked))
        own: Project = request.getfixturevalue("samewise_project")
        return _checked(own.prove(pipeline, **asked))

    return check


@pytest.fixture
def prove_command(request: pytest.FixtureRequest) -> Callable[..., Proof]:
    """`prove_command("python job.py {date} {target}", target="delta:warehouse/orders", dates=["2026-04-25"])`.

    For a job of any kind. Takes what `samewise prove --command` does: `key`, `input`, `log`, `state`, `url`,
    `in_place`, `unqualified`, `only`, `timeout`.
    """

    def check(command: str, target: str, **asked: Any) -> Proof:
        __tracebackhide__ = True
        from samewise.wiring.prove_command import ForeignRequest, prove_command

        for name in ("dates", "key", "only"):
            if name in asked:
                asked[name] = (asked[name],) if isinstance(asked[name], str) else tuple(asked[name])
        return _checked(prove_command(ForeignRequest(command, target, **asked), spark=_session(request)))

    return check


@pytest.fixture
def assert_same_table(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`assert_same_table(before, after, key="order_id")`: DataFrames, paths of Delta tables or names of tables."""

    def check(before: Any, after: Any, key: Any = None) -> None:
        __tracebackhide__ = True
        from samewise.testing.same_table import assert_same_table

        needed = any(isinstance(table, str | Path) for table in (before, after))
        assert_same_table(before, after, key, spark=_session(request) if needed else None)

    return check


def _session(request: pytest.FixtureRequest) -> SparkSession:
    session: SparkSession = request.getfixturevalue("samewise_spark")
    return session


def _folder(config: pytest.Config) -> Path:
    given = config.getoption("--samewise-project")
    if given:
        return config.invocation_params.dir / str(given)
    named = str(config.getini(_OPTION))
    if named:
        return (config.inipath.parent if config.inipath else config.rootpath) / named
    return config.rootpath


def _checked(proof: Proof) -> Proof:
    __tracebackhide__ = True
    if proof.holds:
        return proof
    from samewise.prove import report
    from samewise.testing.same_table import NotTheSame

    raise NotTheSame("\n".join(report.text(proof, width=_WIDTH)), proof)
