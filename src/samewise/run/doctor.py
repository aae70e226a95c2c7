"""What is wrong with a machine or a project, and the command that mends it. Starts no Spark."""

from __future__ import annotations

import os
import sys
import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from samewise.core.errors import SamewiseError
from samewise.core.windows import instant_text
from samewise.run.class_archive import known_archive
from samewise.run.installed import find_java, require_connect, require_pyspark
from samewise.run.jars import DELTA, JarSet, jar_folder, jars_present
from samewise.run.spark_conf import SparkSettings, brings_delta
from samewise.storage.log import CannotRead

OLDEST_PYTHON = (3, 11)
_RELEASED_AT = datetime(2026, 1, 1, tzinfo=UTC)
_CLOCK_TOLERANCE = timedelta(minutes=1)
_TOKEN_RETENTION = "delta.setTransactionRetentionDuration"
_S3_LOG_STORES = (
    "spark.delta.logStore.s3a.impl",
    "spark.delta.logStore.s3.impl",
    "spark.delta.logStore.class",
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None
    """What mends it; None where nothing is wrong."""


class Server(Protocol):
    """What a database says about itself."""

    @property
    def version(self) -> str: ...
    @property
    def place(self) -> str: ...
    @property
    def read_only(self) -> str | None:
        """Why nothing can be written there; None where it can."""
        ...


@dataclass(frozen=True, slots=True)
class Patient:
    """A project, as far as the doctor needs to know it. A callable raises the SamewiseError that is wrong."""

    spark: SparkSettings
    warehouse: str
    ask_state_store: Callable[[], datetime]
    """Open the state store and read its clock."""
    check_warehouse: Callable[[], None]
    """Write to the warehouse and take it away again."""
    zones: Mapping[str, str] = field(default_factory=dict)
    """The time zone of each pipeline."""
    target_properties: Mapping[str, Callable[[], Mapping[str, str]]] = field(default_factory=dict)
    """For each target table, how to read its properties; an empty answer for one that is not there yet."""
    connections: Mapping[str, tuple[Callable[[], Server], bool]] = field(default_factory=dict)
    """How to ask each server what it is, and whether a pipeline writes there."""


def checks(patient: Patient | None, *, now: datetime, environ: Mapping[str, str] | None = None) -> list[Check]:
    """Everything that can be known without starting Spark; without a patient, the machine alone."""
    environ = os.environ if environ is None else environ
    local = patient is None or patient.spark.remote is None
    found = [check_python(sys.version_info[:3])]
    if local:
        found += [check_java(environ), check_pyspark(environ)]
        if patient is None or not brings_delta(patient.spark.conf):
            found.append(check_jars(DELTA, environ))
            if all(check.ok for check in found):
                found.append(check_archive(environ))
    else:
        found.append(check_connect())
    if patient is None:
        return [*found, check_clock(now, None)]
    state, store_now = check_state_store(patient.ask_state_store)
    found += [state, check_clock(now, store_now), check_warehouse(patient.warehouse, patient.check_warehouse)]
    found += check_zones(patient.zones)
    found += [check_connection(name, *way) for name, way in patient.connections.items()]
    found += check_commit_exclusion(patient.warehouse, patient.spark)
    found += [check_token_memory(table, read) for table, read in patient.target_properties.items()]
    return found


def check_python(version: tuple[int, int, int]) -> Check:
    """Whether this Python is new enough."""
    text = ".".join(map(str, version))
    if version >= OLDEST_PYTHON:
        return Check("python", True, f"{text}, {sys.executable}")
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return Check("python", False, f"{text} is older than {oldest}", f"install Python {oldest} or newer")


def check_java(environ: Mapping[str, str]) -> Check:
    """Whether there is a Java that Spark can run on."""
    try:
        java = find_java(environ)
    except SamewiseError as error:
        return _failed("java", error)
    home = environ.get("JAVA_HOME")
    return Check("java", True, f"{java.version}, {java.path}" + ("" if home else " (JAVA_HOME is not set)"))


def check_pyspark(environ: Mapping[str, str]) -> Check:
    """Whether pyspark is there, of the line that our jars fit, and not overruled by another Spark."""
    try:
        version = require_pyspark()
    except SamewiseError as error:
        return _failed("pyspark", error)
    home = environ.get("SPARK_HOME")
    if home is not None and version not in home and "pyspark" not in home:
        detail = f"{version}, but SPARK_HOME={home} makes it start another Spark"
        return Check("pyspark", False, detail, "unset SPARK_HOME")
    return Check("pyspark", True, version)


def check_connect() -> Check:
    """Whether the client of Spark Connect is complete."""
    try:
        require_connect()
    except SamewiseError as error:
        return _failed("spark connect", error)
    return Check("spark connect", True, "the client is installed")


def check_jars(jar_set: JarSet, environ: Mapping[str, str]) -> Check:
    """Whether the jars have been fetched. Their absence is mended by the first run as well."""
    folder = jar_folder(environ)
    if jars_present(jar_set, environ):
        return Check("jars", True, f"{jar_set.name}, {folder}")
    return Check("jars", False, f"{jar_set.name} is not in {folder}", "python -m samewise.run.jars")


def check_archive(environ: Mapping[str, str]) -> Check:
    """Whether Spark's classes are archived. Nothing is wrong without; it starts more slowly."""
    found = known_archive(environ)
    detail = "none; `samewise doctor --archive-classes` makes one, and Spark starts in half the time"
    return Check("class archive", True, detail if found is None else str(found))


def check_state_store(ask: Callable[[], datetime]) -> tuple[Check, datetime | None]:
    """Whether the state store opens, and its clock."""
    try:
        store_now = ask()
    except SamewiseError as error:
        return _failed("state store", error), None
    return Check("state store", True, "opens"), store_now


def check_clock(now: datetime, store_now: datetime | None) -> Check:
    """Whether this machine's clock can be right. A wrong one would load a window that is still open."""
    fix = "set the clock of this machine: timedatectl set-ntp true"
    if now < _RELEASED_AT:
        return Check("clock", False, f"{instant_text(now)} is before Samewise was written", fix)
    if store_now is not None and abs(now - store_now) > _CLOCK_TOLERANCE:
        detail = f"{instant_text(now)} here, {instant_text(store_now)} in the state store"
        return Check("clock", False, detail, fix)
    return Check("clock", True, instant_text(now))


def check_warehouse(warehouse: str, write: Callable[[], None]) -> Check:
    """Whether the warehouse can be written."""
    try:
        write()
    except SamewiseError as error:
        return _failed("warehouse", error)
    return Check("warehouse", True, f"{warehouse} is writable")


def check_zones(zones: Mapping[str, str]) -> list[Check]:
    """Whether this machine knows the rules of every pipeline's time zone."""
    by_zone: dict[str, list[str]] = {}
    for pipeline, zone in zones.items():
        by_zone.setdefault(zone, []).append(pipeline)
    found = []
    for zone, pipelines in sorted(by_zone.items()):
        users = ", ".join(sorted(pipelines))
        try:
            zoneinfo.ZoneInfo(zone)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError):
            detail = f"{zone} ({users}) is not known here"
            found.append(Check("time zone", False, detail, "pip install --upgrade tzdata"))
        else:
            found.append(Check("time zone", True, f"{zone} ({users})"))
    return found


def check_connection(name: str, ask: Callable[[], Server], is_written: bool) -> Check:
    """Whether a database can be reached, and written where a pipeline wants to write."""
    try:
        server = ask()
    except SamewiseError as error:
        return _failed(f"connection {name}", error)
    detail = f"{server.place}, PostgreSQL {server.version}"
    if server.read_only is None or not is_written:
        return Check(f"connection {name}", True, detail)
    fix = "let the connection name the primary server, or a role that may write"
    return Check(f"connection {name}", False, f"{detail}: {server.read_only}, and a pipeline writes there", fix)


def check_commit_exclusion(warehouse: str, spark: SparkSettings) -> list[Check]:
    """Whether two commits on S3 exclude each other; nothing to check elsewhere."""
    if not warehouse.startswith(("s3a://", "s3://", "s3n://")):
        return []
    name = "commits on S3"
    if spark.remote is not None:
        detail = f"decided by the Connect server's own conf ({_S3_LOG_STORES[0]}), which cannot be seen from here"
        return [Check(name, True, detail)]
    for key in _S3_LOG_STORES:
        if key in spark.conf:
            return [Check(name, True, f"{key}={spark.conf[key]}")]
    return [
        Check(
            name,
            False,
            f"nothing keeps two writers of {warehouse} from taking the same version: one would be lost",
            f"add to spark.conf in samewise.yaml: {_S3_LOG_STORES[0]}: io.delta.storage.S3DynamoDBLogStore"
            " (and its jar, io.delta:delta-storage-s3-dynamodb:4.4.0)",
        )
    ]


def check_token_memory(table: str, read: Callable[[], Mapping[str, str]]) -> Check:
    """Whether a target remembers its tokens for ever: a forgotten one would let an old run land again."""
    name = f"target {table}"
    try:
        retention = read().get(_TOKEN_RETENTION)
    except SamewiseError as error:
        return _failed(name, error)
    except CannotRead as error:
        # Nothing is wrong with such a table: runs read it with Spark, which is not started here.
        return Check(name, True, f"cannot be read here, only by Spark, so its {_TOKEN_RETENTION} is not known: {error}")
    if retention is None:
        return Check(name, True, "remembers every token")
    fix = f"ALTER TABLE {table} UNSET TBLPROPERTIES ('{_TOKEN_RETENTION}')"
    return Check(name, False, f"forgets tokens after {retention}", fix)


def _failed(name: str, error: SamewiseError) -> Check:
    return Check(name, False, error.message, error.next_step)
