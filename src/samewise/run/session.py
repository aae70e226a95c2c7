"""The only file that builds a Spark session.

Nothing starts until the first call. What the JVM and Spark print goes to `<log_dir>/spark.log`,
never to the user's terminal. A session that the caller brought is left as it was.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from samewise.core.errors import ConfigError, Transient
from samewise.core.ports import Spark
from samewise.run.class_archive import java_options
from samewise.run.installed import find_java, require_connect, require_pyspark
from samewise.run.jars import ensure_jars
from samewise.run.spark_conf import (
    DELTA_CONF,
    FAST_JVM_VARIABLE,
    SparkSettings,
    brings_delta,
    local_cores,
    session_conf,
    start_conf,
    working_conf,
)
from samewise.run.spark_log import LOG4J_NAME, prepare_log

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["LazySpark", "SparkSettings", "is_connect"]

# One JVM a process: two threads, or two projects, must not both try to launch it.
_starting = threading.RLock()
_committing = threading.RLock()
_jvm: subprocess.Popen[bytes] | None = None
_ENDING_SECONDS = 600
_fresh_conf: WeakKeyDictionary[SparkContext, Mapping[str, str]] = WeakKeyDictionary()


class LazySpark:
    """A Spark session on demand, one for each time zone; implements `core.ports.Spark`.

    Without `caller` it uses the session that this process already has, else it starts one
    (`settings.master`) or connects to one (`settings.remote`).
    """

    def __init__(
        self,
        settings: SparkSettings,
        caller: SparkSession | None = None,
        on_start: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._settings = settings
        self._caller = caller
        self._on_start = on_start
        self._sessions: dict[str, SparkSession] = {}
        self._idle: dict[str, list[SparkSession]] = {}
        self._started_here: list[SparkSession] = []
        self._restore: Callable[[], None] | None = None

    def __call__(self) -> SparkSession:
        """The session in the settings' zone. The first call may take seconds."""
        return self.session_for(self._settings.zone)

    @property
    def started(self) -> bool:
        return bool(self._sessions)

    def in_zone(self, zone: str) -> Spark:
        """The same Spark for a pipeline of another zone; starts nothing."""
        return _Zoned(self, zone)

    def session_for(self, zone: str) -> SparkSession:
        """A session whose zone is `zone`; later calls with that zone give the same one."""
        with _starting:
            if zone not in self._sessions:
                self._sessions[zone] = self._open(zone)
            return self._sessions[zone]

    def alone(self) -> AbstractContextManager[SparkSession]:
        return self.alone_in(self._settings.zone)

    @contextmanager
    def alone_in(self, zone: str) -> Iterator[SparkSession]:
        """The same in `zone`. A Connect session has no siblings: there one statement waits for the other."""
        session = self.session_for(zone)
        if is_connect(session):
            with _committing:
                yield session
            return
        with _starting:
            # One that another statement has done with: a new one has everything to set up again.
            idle = self._idle.setdefault(zone, [])
            lone = idle.pop() if idle else _sibling(session, zone)
        try:
            yield lone
        finally:
            with _starting:
                self._idle.setdefault(zone, []).append(lone)

    def another_in(self, zone: str) -> SparkSession:
        """A session beside the others, for a thread of its own: its views and its conf are nobody else's."""
        session = self.session_for(zone)
        with _starting:
            if not is_connect(session):
                return _sibling(session, zone)
            if self._settings.remote is None or self._caller is not None:
                raise ConfigError(
                    "a Spark Connect session that the caller brought cannot be shared between threads",
                    next_step="leave out --parallel, or set spark.remote in samewise.yaml instead",
                )
            return self._connect(self._settings.remote, zone)

    def stop(self) -> None:
        """Stop what was started here, give a borrowed session its conf back. A second call does nothing."""
        with _starting:
            if self._restore is not None:
                self._restore()
                self._restore = None
            # All of them: a Connect client that is left open while another is stopped hangs Python at its exit.
            while self._started_here:
                self._started_here.pop().stop()
            self._sessions.clear()
            self._idle.clear()

    def _open(self, zone: str) -> SparkSession:
        settings = self._settings
        if self._caller is not None:
            return self._borrow(self._caller, zone)
        if settings.remote is not None:
            return self._connect(settings.remote, zone)
        if not self._started_here:
            running = _running_session()
            if running is not None:
                return self._borrow(running, zone)
            self._started_here.append(_start(settings, self._on_start))
            _require_delta(self._started_here[0])
        first = self._started_here[0]
        return first if zone == settings.zone else _sibling(first, zone)

    def _connect(self, remote: str, zone: str) -> SparkSession:
        if not self._started_here:
            require_connect()
            self._on_start(f"connecting to Spark at {_without_parameters(remote)}")
            _require_listener(remote)
        session = _connect(remote, self._settings.conf, zone)
        self._started_here.append(session)
        _require_delta(session)
        return session

    def _borrow(self, borrowed: SparkSession, zone: str) -> SparkSession:
        _require_delta(borrowed)
        if not is_connect(borrowed):
            return _sibling(borrowed, zone)
        if self._restore is not None:
            raise ConfigError(
                f"a Spark Connect session that the caller brought cannot serve a second time zone, {zone}",
                next_step="bring one session for each zone, or set spark.remote in samewise.yaml instead",
            )
        self._restore = _lend(borrowed, {**_undecided(borrowed.conf.getAll), **session_conf(zone)})
        return borrowed


class _Zoned:
    def __init__(self, spark: LazySpark, zone: str) -> None:
        self._spark = spark
        self._zone = zone

    def __call__(self) -> SparkSession:
        return self._spark.session_for(self._zone)

    @property
    def started(self) -> bool:
        return self._spark.started

    def alone(self) -> AbstractContextManager[SparkSession]:
        return self._spark.alone_in(self._zone)


def is_connect(spark: SparkSession) -> bool:
    """Whether `spark` is a client of a Spark Connect server."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def _running_session() -> SparkSession | None:
    # Not imported yet means not running, and spares the import for who brings no pyspark at all.
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


def _require_delta(spark: SparkSession) -> None:
    extension = DELTA_CONF["spark.sql.extensions"]
    if extension in str(spark.conf.get("spark.sql.extensions", "")):
        return
    wanted = ", ".join(f"{key}={value}" for key, value in DELTA_CONF.items())
    raise ConfigError(
        "this Spark session does not have the Delta extension",
        next_step=f"build it (or start its server) with Delta's jars and {wanted}",
    )


def _sibling(spark: SparkSession, zone: str) -> SparkSession:
    """A session of the same JVM with a conf of its own: what is set here never shows in `spark`."""
    sibling = spark.newSession()
    # A new session knows only what the JVM was started with; what the caller has set since,
    # say the credentials of a bucket, must hold here too.
    inherited, theirs = _inherited(sibling), spark.conf.getAll
    for key, value in theirs.items():
        if inherited.get(key) != value:
            _set_unless_fixed(sibling, key, value)
    for key, value in {**_undecided({**inherited, **theirs}), **session_conf(zone)}.items():
        sibling.conf.set(key, value)
    return sibling


def _inherited(fresh: SparkSession) -> Mapping[str, str]:
    """What every new session of this JVM says: asked once, since each entry is a question of its own."""
    context = fresh.sparkContext
    if context not in _fresh_conf:
        _fresh_conf[context] = fresh.conf.getAll
    return _fresh_conf[context]


def _undecided(decided: Mapping[str, str]) -> dict[str, str]:
    """What suits the work, without what somebody has set already."""
    wanted = working_conf(decided.get("spark.master", ""))
    return {key: value for key, value in wanted.items() if key not in decided}


def _set_unless_fixed(spark: SparkSession, key: str, value: str) -> None:
    # `isModifiable` does not know keys that Spark itself has no use for, such as a bucket's credentials.
    from pyspark.errors import AnalysisException

    try:
        spark.conf.set(key, value)
    except AnalysisException as error:
        if not str(error.getCondition()).startswith("CANNOT_MODIFY"):
            raise


def _lend(spark: SparkSession, conf: Mapping[str, str]) -> Callable[[], None]:
    """Set `conf` on a session that has no siblings, and return what undoes it."""
    before = spark.conf.getAll

    def restore() -> None:
        for key in conf:
            if key in before:
                spark.conf.set(key, before[key])
            else:
                spark.conf.unset(key)

    for key, value in conf.items():
        spark.conf.set(key, value)
    return restore


def _start(settings: SparkSettings, on_start: Callable[[str], None]) -> SparkSession:
    require_pyspark()
    java = find_java()
    jars = [] if brings_delta(settings.conf) else ensure_jars(on_start)
    on_start(f"starting Spark ({settings.effective_master})")
    log = prepare_log(settings.log_dir)
    conf = start_conf(
        settings,
        jars,
        settings.log_dir / LOG4J_NAME,
        fast_jvm=os.environ.get(FAST_JVM_VARIABLE) == "1",
        further_options=java_options(java, jars) if local_cores(settings.effective_master) is not None else [],
    )
    if local_cores(settings.effective_master) is not None:
        # Python workers on this machine must be this Python, not whichever `python3` is first on the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        return _start_classic(conf, log)
    except Exception as error:
        # Whatever stops a driver from starting (a conf, a port, a master, memory) is told in its log.
        raise ConfigError(
            f"Spark did not start: {_first_line(error)}", next_step=f"its log says more: {log}"
        ) from error


def _start_classic(conf: Mapping[str, str], log: Path) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    global _jvm
    spark_conf = SparkConf()
    for key, value in conf.items():
        spark_conf.set(key, value)
    gateway = None
    if _jvm is None:
        # The JVM gets the log as its stdout and stderr from birth; this process keeps its own,
        # so that a progress line goes on while Spark starts.
        with log.open("ab") as output:
            gateway = launch_gateway(  # type: ignore[no-untyped-call]
                spark_conf, popen_kwargs={"stdout": output, "stderr": output}
            )
        _jvm = gateway.proc
    SparkContext(conf=spark_conf, gateway=gateway)
    return SparkSession.builder.getOrCreate()


def end_jvm() -> None:
    """Let the JVM of this process end, and wait for what it writes on its way out. No session can be had afterwards."""
    assert _jvm is not None and _jvm.stdin is not None, "no JVM was started here"
    _jvm.stdin.close()
    _jvm.wait(_ENDING_SECONDS)


def _connect(remote: str, conf: Mapping[str, str], zone: str) -> SparkSession:
    """A session of its own on the server, each time."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(remote)
    for key, value in {**working_conf(remote), **conf, **session_conf(zone)}.items():
        builder = builder.config(key, value)
    try:
        session: SparkSession = builder.create()
    except Exception as error:
        raise ConfigError(
            f"Spark at {_without_parameters(remote)} gave no session: {_first_line(error)}",
            next_step="check spark.remote and spark.conf in samewise.yaml, then the server's log",
        ) from error
    return session


def _require_listener(remote: str) -> None:
    # The client would try for ten minutes and say nothing. Behind a proxy a socket proves nothing.
    if any(os.environ.get(name) for name in ("grpc_proxy", "https_proxy", "http_proxy")):
        return
    place = urlsplit(_without_parameters(remote))
    try:
        socket.create_connection((place.hostname, place.port or 15002), timeout=10).close()
    except OSError as error:
        raise Transient(
            f"no Spark at {_without_parameters(remote)}: {error}",
            next_step="check that the Spark Connect server runs and that spark.remote names it",
        ) from error


def _without_parameters(remote: str) -> str:
    # A Connect URL carries its token after the semicolon.
    return remote.partition(";")[0]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
