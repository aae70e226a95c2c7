"""What a Spark session is told, as plain data: no Spark is needed to decide it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from samewise.core.errors import ConfigError

FAST_JVM_VARIABLE = "SAMEWISE_FAST_JVM"
DELTA_CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_CLASS_PATH = "spark.driver.extraClassPath"
_ZONE = "spark.sql.session.timeZone"

# A session without these would break the promise, so a project cannot change them.
_PROMISED = {
    "spark.sql.ansi.enabled": ("true", "a bad cast must fail, not become NULL"),
    "spark.sql.storeAssignmentPolicy": ("ANSI", "a value that does not fit must fail, not be cut"),
    "spark.sql.caseSensitive": ("false", "columns are compared without regard to case"),
    "spark.sql.sources.partitionOverwriteMode": (
        "static",
        "a dynamic overwrite keeps the old rows of a window that became empty",
    ),
    "spark.sql.legacy.parameterSubstitution.constantsOnly": (
        "true",
        "Spark 4.1 hands parameters to the parser, and Delta's parser loses them on the way",
    ),
    "spark.databricks.delta.replaceWhere.dataColumns.enabled": (
        "true",
        "a window is replaced by its predicate",
    ),
    "spark.databricks.delta.replaceWhere.constraintCheck.enabled": (
        "true",
        "a row outside its window must be refused",
    ),
}
# Spark leaves out of a plan's text what comes after the 25th column, and a clock function may stand there. Whoever has
# set it for the sake of logs is no worse off with more, so it is overruled, not refused.
_WHOLE_PLANS = {"spark.sql.debug.maxToStringFields": "100000"}
_FORBIDDEN = {
    _ZONE: "the zone is the schedule's `timezone`",
    "spark.databricks.delta.write.txnAppId": "tokens are Samewise's own",
    "spark.databricks.delta.write.txnVersion": "tokens are Samewise's own",
    "spark.databricks.delta.commitInfo.userMetadata": "a commit's metadata carries the run's identity",
    "spark.databricks.delta.properties.defaults.setTransactionRetentionDuration": (
        "a table that forgets tokens lets an old run land twice"
    ),
}

# What suits the work wherever the session comes from; whoever sets one of these has decided otherwise.
WORKING_CONF = {
    # A window has few partitions: with a file open for each, Spark need not sort all rows by partition first.
    "spark.sql.maxConcurrentOutputFileWriters": "4",
    # Spark's default, INT96, is a byte array of which nothing can be skipped; Parquet has given it up. A whole number
    # of microseconds is what Spark counts in, and takes a sixth of the time off a window with a timestamp.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
# On one machine a Spark job that asks for the sizes of forty files takes three times as long as asking for them.
_LOCAL_WORKING_CONF = {"spark.sql.sources.parallelPartitionDiscovery.threshold": "256"}


def working_conf(master: str) -> dict[str, str]:
    """The defaults for the work itself, on a Spark of this kind."""
    return WORKING_CONF | ({} if local_cores(master) is None else _LOCAL_WORKING_CONF)


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """How to get a Spark session. Refuses a conf that would break what Samewise promises."""

    log_dir: Path
    """Where Spark's log goes; made when a session starts."""
    master: str | None = None
    """`local[*]` where neither this nor `remote` is given."""
    remote: str | None = None
    """A Spark Connect server, `sc://host:port`."""
    conf: Mapping[str, str] = field(default_factory=dict)
    zone: str = "UTC"
    warehouse_dir: Path | str | None = None
    """Where Spark puts tables of its own catalog; beside the log where nothing is given."""

    def __post_init__(self) -> None:
        if self.master is not None and self.remote is not None:
            raise ConfigError(
                "spark.master and spark.remote exclude each other",
                next_step="keep `remote` for a Spark Connect server, `master` for everything else",
            )
        if self.remote is not None and not self.remote.startswith("sc://"):
            raise ConfigError(
                "spark.remote is not the address of a Spark Connect server",
                next_step="write it as sc://host:15002",
            )
        for key, value in self.conf.items():
            _refuse_a_broken_promise(key, value)

    @property
    def effective_master(self) -> str:
        return self.master or "local[*]"


def _refuse_a_broken_promise(key: str, value: str) -> None:
    promised, why = _PROMISED.get(key, (None, _FORBIDDEN.get(key)))
    if why is None or (promised is not None and value.lower() == promised.lower()):
        return
    raise ConfigError(f"spark.conf sets {key}: {why}", next_step=f"remove {key} from spark.conf")


def session_conf(zone: str) -> dict[str, str]:
    """What every session that Samewise works in must say, whoever brought it."""
    return {_ZONE: zone, **_WHOLE_PLANS} | {key: value for key, (value, _) in _PROMISED.items()}


def start_conf(
    settings: SparkSettings,
    jars: Sequence[Path],
    log4j_file: Path,
    *,
    fast_jvm: bool,
    further_options: Sequence[str] = (),
) -> dict[str, str]:
    """Everything that a new JVM and its first session are told. The project's own conf wins
    over a default; lists (jars, extensions, Java options) are joined."""
    java_options = [f"-Dlog4j2.configurationFile={log4j_file.absolute().as_uri()}"]
    if fast_jvm:
        # A short-lived JVM never earns back what the optimising compiler and a parallel collector cost.
        java_options += ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    java_options += [f'"{option}"' if " " in option else option for option in further_options]
    conf = {
        "spark.app.name": "samewise",
        "spark.ui.showConsoleProgress": "false",
        **DELTA_CONF,
        **working_conf(settings.effective_master),
        **local_conf(settings.effective_master),
        **settings.conf,
        **session_conf(settings.zone),
        "spark.master": settings.effective_master,
    }
    # Spark's own default is a folder in whichever directory the command was started.
    warehouse = settings.warehouse_dir or settings.log_dir.absolute() / "spark-warehouse"
    conf.setdefault("spark.sql.warehouse.dir", str(warehouse))
    conf[_JAVA_OPTIONS] = " ".join([*java_options, settings.conf.get(_JAVA_OPTIONS, "")]).strip()
    extension = DELTA_CONF["spark.sql.extensions"]
    if extension not in conf["spark.sql.extensions"]:
        conf["spark.sql.extensions"] += "," + extension
    key, separator, names = _place_of_jars(settings, jars)
    if names:
        own = settings.conf.get(key)
        conf[key] = separator.join([*names, *([own] if own else [])])
    return conf


def _place_of_jars(settings: SparkSettings, jars: Sequence[Path]) -> tuple[str, str, list[str]]:
    """Which setting brings our jars to Spark, what stands between two of them, and how they are written there."""
    names = [str(jar) for jar in jars]
    if local_cores(settings.effective_master) is None or any(os.pathsep in name for name in names):
        return "spark.jars", ",", [jar.as_uri() for jar in jars]
    # Driver and tasks are one JVM. On its own class path nothing is copied first, and an archive of classes holds them.
    return _CLASS_PATH, os.pathsep, names


def local_conf(master: str) -> dict[str, str]:
    """Defaults for a Spark that is this one machine; nothing for a cluster."""
    cores = local_cores(master)
    if cores is None:
        return {}
    return {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        # Spark's defaults are made for a cluster: on small data 200, 50 and 10,000 tasks dominate.
        "spark.sql.shuffle.partitions": str(cores),
        "spark.databricks.delta.snapshotPartitions": str(cores),
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(cores),
        # Delta alone makes dozens of plans for a commit: with Spark's 100 the next commit compiles them all again.
        "spark.sql.codegen.cache.maxEntries": "1000",
    }


def local_cores(master: str) -> int | None:
    """How many cores `local`, `local[4]`, `local[*]` or `local[4,2]` uses; None for a cluster."""
    match = re.fullmatch(r"local(?:\[(\*|\d+)(?:,\s*\d+)?\])?", master)
    if match is None:
        return None
    if match.group(1) == "*":
        return os.cpu_count() or 1
    return int(match.group(1) or 1)


def brings_delta(conf: Mapping[str, str]) -> bool:
    """Whether the project's own conf names the jar of Delta, so that ours must stay away."""
    return any("delta-spark" in conf.get(key, "") for key in ("spark.jars", "spark.jars.packages"))
