"""The doctor: each thing that can be wrong is found, and named with what mends it."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from samewise.core.errors import ConfigError
from samewise.run.doctor import (
    Check,
    Patient,
    check_clock,
    check_commit_exclusion,
    check_connection,
    check_jars,
    check_java,
    check_pyspark,
    check_python,
    check_state_store,
    check_token_memory,
    check_warehouse,
    check_zones,
    checks,
)
from samewise.run.installed import java_major, java_version
from samewise.run.jars import DELTA
from samewise.run.jars import VARIABLE as JARS
from samewise.run.session import SparkSettings
from samewise.storage.delta_log import DeltaLog
from samewise.storage.postgres import Server

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
HERE = SparkSettings(log_dir=Path("logs"))
SERVER = Server("db/shop", "15.2", None)


def patient(**changes: object) -> Patient:
    well: dict[str, object] = {
        "spark": HERE,
        "warehouse": "/warehouse",
        "ask_state_store": lambda: NOW,
        "check_warehouse": lambda: None,
        "zones": {"orders_daily": "Europe/Berlin"},
        "target_properties": {"orders": dict},
    }
    return Patient(**{**well, **changes})  # type: ignore[arg-type]


def broken(*_: object) -> None:
    raise ConfigError("it is broken", next_step="mend it")


def java(folder: Path, version: str) -> dict[str, str]:
    """An environment whose Java says that it is `version`."""
    script = folder / "bin" / "java"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    script.chmod(0o755)
    return {"JAVA_HOME": str(folder)}


def test_a_healthy_project_has_no_fixes(tmp_path: Path) -> None:
    environ = {**java(tmp_path, "17.0.15"), JARS: str(tmp_path)}
    for jar in DELTA.jars:
        (tmp_path / jar.file_name).touch()
    assert [check for check in checks(patient(), now=NOW, environ=environ) if not check.ok or check.fix] == []


def test_without_a_project_the_machine_is_examined(tmp_path: Path) -> None:
    names = [check.name for check in checks(None, now=NOW, environ=java(tmp_path, "17.0.15"))]
    assert names == ["python", "java", "pyspark", "jars", "class archive", "clock"]


def test_a_project_on_a_connect_server_needs_no_java(tmp_path: Path) -> None:
    remote = SparkSettings(log_dir=tmp_path, remote="sc://spark:15002")
    names = {check.name for check in checks(patient(spark=remote), now=NOW, environ={})}
    assert names.isdisjoint({"java", "jars"})


def test_a_project_that_brings_its_own_delta_needs_no_jars_of_ours(tmp_path: Path) -> None:
    own = SparkSettings(log_dir=tmp_path, conf={"spark.jars.packages": "io.delta:delta-spark_4.1_2.13:4.4.0"})
    names = {check.name for check in checks(patient(spark=own), now=NOW, environ=java(tmp_path, "21"))}
    assert "jars" not in names


def test_everything_that_is_wrong_is_found_at_once(tmp_path: Path) -> None:
    sick = patient(ask_state_store=broken, check_warehouse=broken, zones={"orders_daily": "Europe/Berlyn"})
    environ = {**java(tmp_path, "11.0.2"), JARS: str(tmp_path)}
    wrong = [check.name for check in checks(sick, now=NOW, environ=environ) if not check.ok]
    assert wrong == ["java", "jars", "state store", "warehouse", "time zone"]


def test_every_failing_check_names_what_mends_it(tmp_path: Path) -> None:
    sick = patient(
        ask_state_store=broken,
        check_warehouse=broken,
        zones={"orders_daily": "Europe/Berlyn"},
        warehouse="s3a://bucket/warehouse",
        target_properties={"orders": lambda: {"delta.setTransactionRetentionDuration": "interval 7 days"}},
    )
    environ = {**java(tmp_path, "11.0.2"), JARS: str(tmp_path)}
    assert [check for check in checks(sick, now=NOW, environ=environ) if not check.ok and not check.fix] == []


def test_the_doctor_imports_no_pyspark() -> None:
    code = "import sys, samewise.run.doctor; sys.exit('pyspark' in sys.modules)"
    environ = {"PYTHONPATH": ":".join(entry for entry in sys.path if entry)}
    assert subprocess.run([sys.executable, "-c", code], env=environ, check=False).returncode == 0


def test_an_old_python_is_wrong() -> None:
    assert not check_python((3, 10, 14)).ok


def test_a_java_that_is_too_old_is_wrong(tmp_path: Path) -> None:
    assert "is Java 11.0.2; Spark needs 17 or newer" in check_java(java(tmp_path, "11.0.2")).detail


def test_a_java_home_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    assert f"JAVA_HOME={tmp_path}" in check_java({"JAVA_HOME": str(tmp_path)}).detail


def test_no_java_at_all_is_wrong(tmp_path: Path) -> None:
    assert check_java({"PATH": str(tmp_path)}).detail == "there is no Java on this machine, and Spark needs one"


def test_a_java_that_does_not_start_is_quoted(tmp_path: Path) -> None:
    script = tmp_path / "bin" / "java"
    script.parent.mkdir()
    script.write_text(
        "#!/bin/sh\necho 'Picked up JAVA_TOOL_OPTIONS: -XX:Odd' >&2\necho 'Unrecognized VM option Odd' >&2\n"
    )
    script.chmod(0o755)
    assert check_java({"JAVA_HOME": str(tmp_path)}).detail.endswith("which Java it is: Unrecognized VM option Odd")


@pytest.mark.parametrize(("version", "major"), [("17.0.15", 17), ("1.8.0_392", 8), ("21-ea", 21), ("21", 21)])
def test_the_major_version_of_a_java_is_read(version: str, major: int) -> None:
    assert java_major(version) == major


def test_a_java_that_says_something_else_first_is_understood() -> None:
    answer = 'Picked up JAVA_TOOL_OPTIONS: -Dx="1"\nopenjdk version "17.0.15" 2025-04-15\n'
    assert java_version(answer) == "17.0.15"


def test_another_spark_in_spark_home_is_wrong() -> None:
    assert check_pyspark({"SPARK_HOME": "/opt/spark-3.5.1"}).fix == "unset SPARK_HOME"


def test_missing_jars_name_the_command_that_fetches_them(tmp_path: Path) -> None:
    assert check_jars(DELTA, {JARS: str(tmp_path)}).fix == "python -m samewise.run.jars"


def test_a_state_store_that_does_not_open_says_why() -> None:
    check, clock = check_state_store(broken)  # type: ignore[arg-type]
    assert (check, clock) == (Check("state store", False, "it is broken", "mend it"), None)


def test_a_warehouse_that_cannot_be_written_says_why() -> None:
    assert check_warehouse("/warehouse", broken) == Check("warehouse", False, "it is broken", "mend it")


def test_a_clock_before_samewise_was_written_is_wrong() -> None:
    assert not check_clock(datetime(1970, 1, 1, tzinfo=UTC), None).ok


def test_a_clock_that_disagrees_with_the_state_store_is_wrong() -> None:
    assert not check_clock(NOW, NOW + timedelta(minutes=5)).ok


def test_a_clock_may_differ_by_seconds() -> None:
    assert check_clock(NOW, NOW - timedelta(seconds=20)).ok


def test_an_unknown_zone_names_its_pipelines() -> None:
    (check,) = check_zones({"b": "Europe/Berlyn", "a": "Europe/Berlyn"})
    assert check.detail == "Europe/Berlyn (a, b) is not known here"


def test_a_warehouse_on_s3_without_mutual_exclusion_is_wrong() -> None:
    (check,) = check_commit_exclusion("s3a://bucket/warehouse", HERE)
    assert not check.ok


def test_a_warehouse_on_s3_with_a_log_store_is_fine(tmp_path: Path) -> None:
    conf = {"spark.delta.logStore.s3a.impl": "io.delta.storage.S3DynamoDBLogStore"}
    (check,) = check_commit_exclusion("s3a://bucket/warehouse", SparkSettings(log_dir=tmp_path, conf=conf))
    assert check.ok


def test_a_warehouse_on_a_disk_needs_no_log_store() -> None:
    assert check_commit_exclusion("/warehouse", HERE) == []


def test_a_target_that_forgets_tokens_is_wrong() -> None:
    check = check_token_memory("orders", lambda: {"delta.setTransactionRetentionDuration": "interval 7 days"})
    assert check.fix == "ALTER TABLE orders UNSET TBLPROPERTIES ('delta.setTransactionRetentionDuration')"


def test_a_target_that_remembers_is_fine() -> None:
    assert check_token_memory("orders", lambda: {"delta.minReaderVersion": "1"}).ok


def test_a_target_that_only_spark_can_read_is_said_to_be_one(tmp_path: Path) -> None:
    place = tmp_path / "50%20off"
    place.mkdir()

    def read() -> dict[str, str]:
        log = DeltaLog.open(str(place))
        return {} if log is None else log.properties

    check = check_token_memory("orders", read)
    assert check.ok
    assert check.detail.startswith("cannot be read here, only by Spark")
    assert "50%20off" in check.detail


def test_a_connection_that_opens_is_fine() -> None:
    (check,) = [c for c in checks(patient(connections={"shop": (lambda: SERVER, True)}), now=NOW) if "shop" in c.name]
    assert (check.ok, check.detail) == (True, "db/shop, PostgreSQL 15.2")


def test_a_connection_that_does_not_open_says_why() -> None:
    assert check_connection("shop", broken, False) == Check("connection shop", False, "it is broken", "mend it")  # type: ignore[arg-type]


@pytest.mark.parametrize(("is_written", "ok"), [(True, False), (False, True)])
def test_a_standby_may_be_read_and_not_written(is_written: bool, ok: bool) -> None:
    standby = Server("db/shop", "15.2", "it is a standby")
    assert check_connection("shop", lambda: standby, is_written).ok is ok
