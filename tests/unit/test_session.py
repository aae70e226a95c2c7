"""The Spark session: lazy, quiet, in the right zone, and never changed where the caller brought it.

One process starts a real Spark and writes down what it saw; each test looks at one line of that.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from samewise.core.errors import ConfigError, Transient
from samewise.run.jars import ensure_jars
from samewise.run.session import LazySpark, SparkSettings
from samewise.run.spark_conf import local_cores, start_conf
from tests.support.connect import connect_server

START = """
import json, sys
from pathlib import Path
from samewise.run.session import LazySpark, SparkSettings, is_connect

folder, remote = Path(sys.argv[1]), sys.argv[2] or None
said, seen = [], {}
zone, files = "spark.sql.session.timeZone", "spark.sql.maxConcurrentOutputFileWriters"
settings = SparkSettings(
    log_dir=folder / "logs",
    zone="Europe/Berlin",
    conf={"spark.sql.shuffle.partitions": "3"},
    master=None if remote else "local[2]",
    remote=remote,
)
lazy = LazySpark(settings, on_start=said.append)
seen["imported before"] = "pyspark" in sys.modules
seen["started before"] = lazy.started
spark = lazy()
seen["said"] = said
seen["started after"] = lazy.started
seen["same"] = lazy() is spark
seen["connect"] = is_connect(spark)
seen["zone"] = spark.conf.get(zone)
seen["ansi"] = spark.conf.get("spark.sql.ansi.enabled")
seen["files"] = spark.conf.get(files)
seen["shuffle"] = spark.conf.get("spark.sql.shuffle.partitions")
other = lazy.in_zone("Asia/Kathmandu")()
seen["other zone"] = [spark.conf.get(zone), other.conf.get(zone)]
spark.range(5).write.format("delta").save(str(folder / "table"))
seen["rows"] = other.read.format("delta").load(str(folder / "table")).count()

from pyspark.sql.functions import udf
seen["worker"] = spark.range(1).select(udf(lambda _: sys.executable)("id")).first()[0] == sys.executable

spark.conf.set(zone, "America/New_York")
spark.conf.set("my.own", "setting")
spark.conf.set(files, "7")
guest = LazySpark(settings, caller=spark)
lent = guest()
seen["guest zone"] = lent.conf.get(zone)
seen["guest setting"] = lent.conf.get("my.own")
seen["guest files"] = lent.conf.get(files)
seen["guest fields"] = lent.conf.get("spark.sql.debug.maxToStringFields")
if remote is None:
    seen["caller zone while lent"] = spark.conf.get(zone)
    found = LazySpark(settings)()
    seen["second start"] = [found.range(1).count(), found.conf.get(zone)]
else:
    try:
        guest.session_for("Asia/Tokyo")
    except Exception as error:
        seen["second zone"] = str(error)
guest.stop()
spark.conf.unset(files)
second = LazySpark(settings, caller=spark)
seen["second guest files"] = second().conf.get(files)
second.stop()
seen["caller zone afterwards"] = spark.conf.get(zone)
seen["caller works afterwards"] = spark.range(1).count()

lazy.stop()
lazy.stop()
seen["started in the end"] = lazy.started
(folder / "seen.json").write_text(json.dumps(seen))
"""


def watch(folder: Path, remote: str) -> dict[str, Any]:
    ensure_jars(lambda _: None)
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        "SAMEWISE_FAST_JVM": "1",
    }
    answer = subprocess.run(
        [sys.executable, "-c", START, str(folder), remote],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    seen: dict[str, Any] = json.loads((folder / "seen.json").read_text())
    return {**seen, "printed": answer.stdout + answer.stderr, "left": sorted(os.listdir(folder))}


@pytest.fixture(scope="module")
def classic(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return watch(tmp_path_factory.mktemp("classic"), "")


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with connect_server(tmp_path_factory.mktemp("server")) as remote:
        return {**watch(tmp_path_factory.mktemp("connect"), remote), "remote": remote}


@pytest.fixture(params=["classic", "connect"])
def seen(request: pytest.FixtureRequest) -> dict[str, Any]:
    value: dict[str, Any] = request.getfixturevalue(request.param)
    return value


def test_nothing_is_imported_before_the_first_call(seen: dict[str, Any]) -> None:
    assert (seen["imported before"], seen["started before"]) == (False, False)


def test_later_calls_give_the_same_session(seen: dict[str, Any]) -> None:
    assert (seen["same"], seen["started after"]) == (True, True)


def test_starting_says_so_once(classic: dict[str, Any]) -> None:
    assert classic["said"] == ["starting Spark (local[2])"]


def test_connecting_says_so_once(connect: dict[str, Any]) -> None:
    assert connect["said"] == [f"connecting to Spark at {connect['remote']}"]


def test_nothing_that_spark_says_reaches_the_terminal(seen: dict[str, Any]) -> None:
    assert seen["printed"] == ""


def test_nothing_is_left_in_the_working_folder_but_the_log(seen: dict[str, Any]) -> None:
    assert set(seen["left"]) <= {"logs", "seen.json", "table"}


def test_the_session_is_in_the_pipelines_zone(seen: dict[str, Any]) -> None:
    assert seen["zone"] == "Europe/Berlin"


def test_a_bad_cast_fails(seen: dict[str, Any]) -> None:
    assert seen["ansi"] == "true"


def test_the_projects_conf_wins_over_a_default(seen: dict[str, Any]) -> None:
    assert seen["shuffle"] == "3"


def test_a_window_of_few_partitions_is_written_without_sorting_it(seen: dict[str, Any]) -> None:
    assert (seen["files"], seen["second guest files"]) == ("4", "4")


def test_how_many_files_are_open_at_once_is_left_to_a_caller_who_has_decided_it(seen: dict[str, Any]) -> None:
    assert seen["guest files"] == "7"


def test_a_brought_session_shows_whole_plans_however_many_columns(seen: dict[str, Any]) -> None:
    assert int(seen["guest fields"]) >= 10_000


def test_a_session_of_another_zone_leaves_the_first_alone(seen: dict[str, Any]) -> None:
    assert seen["other zone"] == ["Europe/Berlin", "Asia/Kathmandu"]


def test_delta_works_across_sessions(seen: dict[str, Any]) -> None:
    assert seen["rows"] == 5


def test_python_workers_are_this_python(seen: dict[str, Any]) -> None:
    assert seen["worker"]


def test_a_connect_session_is_told_from_a_classic_one(classic: dict[str, Any], connect: dict[str, Any]) -> None:
    assert (classic["connect"], connect["connect"]) == (False, True)


def test_a_session_that_the_caller_brought_serves_in_the_pipelines_zone(seen: dict[str, Any]) -> None:
    assert seen["guest zone"] == "Europe/Berlin"


def test_what_the_caller_has_set_holds_for_us_too(seen: dict[str, Any]) -> None:
    assert seen["guest setting"] == "setting"


def test_a_classic_session_is_never_changed(classic: dict[str, Any]) -> None:
    assert classic["caller zone while lent"] == "America/New_York"


def test_a_brought_session_is_afterwards_as_it_was(seen: dict[str, Any]) -> None:
    assert seen["caller zone afterwards"] == "America/New_York"


def test_a_brought_session_is_not_stopped(seen: dict[str, Any]) -> None:
    assert seen["caller works afterwards"] == 1


def test_a_brought_connect_session_cannot_serve_two_zones(connect: dict[str, Any]) -> None:
    assert "cannot serve a second time zone, Asia/Tokyo" in connect["second zone"]


def test_a_second_project_uses_the_session_that_runs(classic: dict[str, Any]) -> None:
    assert classic["second start"] == [1, "Europe/Berlin"]


def test_stopping_twice_is_stopping_once(seen: dict[str, Any]) -> None:
    assert seen["started in the end"] is False


class SessionWithoutDelta:
    """As much of a session as is looked at before anything else happens."""

    class conf:  # noqa: N801
        @staticmethod
        def get(_: str, default: str) -> str:
            return default


def test_a_session_without_delta_is_refused_with_the_confs_to_set(tmp_path: Path) -> None:
    lazy = LazySpark(SparkSettings(log_dir=tmp_path), caller=SessionWithoutDelta())  # type: ignore[arg-type]
    with pytest.raises(ConfigError) as caught:
        lazy()
    assert "spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension" in str(caught.value.next_step)


def test_a_connect_server_that_is_not_there_is_transient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        remote = f"sc://127.0.0.1:{taken.getsockname()[1]}/;token=secret"
        with pytest.raises(Transient) as caught:
            LazySpark(SparkSettings(log_dir=tmp_path, remote=remote))()
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.sql.session.timeZone", "UTC"),
        ("spark.sql.ansi.enabled", "false"),
        ("spark.sql.sources.partitionOverwriteMode", "dynamic"),
        ("spark.databricks.delta.replaceWhere.constraintCheck.enabled", "false"),
        ("spark.databricks.delta.properties.defaults.setTransactionRetentionDuration", "interval 7 days"),
    ],
)
def test_a_conf_that_breaks_the_promise_is_refused_by_name(tmp_path: Path, key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"spark.conf sets {key}"):
        SparkSettings(log_dir=tmp_path, conf={key: value})


def test_a_conf_that_says_what_is_promised_anyway_is_fine(tmp_path: Path) -> None:
    assert SparkSettings(log_dir=tmp_path, conf={"spark.sql.ansi.enabled": "TRUE"}).conf


def test_master_and_remote_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="exclude each other"):
        SparkSettings(log_dir=tmp_path, master="local", remote="sc://spark")


def test_a_remote_that_is_no_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not the address"):
        SparkSettings(log_dir=tmp_path, remote="spark:15002")


@pytest.mark.parametrize(
    ("master", "cores"),
    [("local", 1), ("local[4]", 4), ("local[4,2]", 4), ("local[*]", os.cpu_count()), ("yarn", None)],
)
def test_the_cores_of_a_local_master_are_known(master: str, cores: int | None) -> None:
    assert local_cores(master) == cores


def conf_of(settings: SparkSettings, *jars: Path, fast_jvm: bool = False) -> dict[str, str]:
    return start_conf(settings, jars, Path("/logs/log4j2.properties"), fast_jvm=fast_jvm)


def test_a_cluster_keeps_its_own_partition_numbers(tmp_path: Path) -> None:
    conf = conf_of(SparkSettings(log_dir=tmp_path, master="yarn"))
    assert "spark.sql.shuffle.partitions" not in conf


def test_a_project_cannot_shorten_the_plans_that_are_searched(tmp_path: Path) -> None:
    conf = conf_of(SparkSettings(log_dir=tmp_path, conf={"spark.sql.debug.maxToStringFields": "10"}))
    assert int(conf["spark.sql.debug.maxToStringFields"]) >= 10_000


def test_extensions_of_the_project_are_joined_with_deltas(tmp_path: Path) -> None:
    conf = conf_of(SparkSettings(log_dir=tmp_path, conf={"spark.sql.extensions": "org.example.Own"}))
    assert conf["spark.sql.extensions"] == "org.example.Own,io.delta.sql.DeltaSparkSessionExtension"


def test_jars_of_the_project_are_joined_with_ours(tmp_path: Path) -> None:
    settings = SparkSettings(log_dir=tmp_path, master="yarn", conf={"spark.jars": "/own.jar"})
    assert conf_of(settings, Path("/our jars/delta.jar"))["spark.jars"] == "file:///our%20jars/delta.jar,/own.jar"


def test_on_one_machine_our_jars_are_on_the_drivers_class_path_before_the_projects_own(tmp_path: Path) -> None:
    settings = SparkSettings(log_dir=tmp_path, conf={"spark.driver.extraClassPath": "/own.jar"})
    conf = conf_of(settings, Path("/our jars/delta.jar"))
    assert conf["spark.driver.extraClassPath"] == "/our jars/delta.jar:/own.jar"
    assert "spark.jars" not in conf


def test_jars_in_a_folder_that_a_class_path_cannot_name_are_given_as_jars(tmp_path: Path) -> None:
    conf = conf_of(SparkSettings(log_dir=tmp_path), Path("/our:jars/delta.jar"))
    assert conf["spark.jars"] == "file:///our%3Ajars/delta.jar"


def test_an_option_with_a_space_in_it_reaches_java_as_one(tmp_path: Path) -> None:
    log4j = Path("/logs/log4j2.properties")
    conf = start_conf(SparkSettings(log_dir=tmp_path), [], log4j, fast_jvm=False, further_options=["-Da=b c"])
    assert conf["spark.driver.extraJavaOptions"].endswith(' "-Da=b c"')


def test_java_options_of_the_project_come_after_ours(tmp_path: Path) -> None:
    conf = conf_of(SparkSettings(log_dir=tmp_path, conf={"spark.driver.extraJavaOptions": "-Xss4m"}))
    assert conf["spark.driver.extraJavaOptions"].endswith(" -Xss4m")


def test_the_jvm_is_held_back_only_where_that_is_asked_for(tmp_path: Path) -> None:
    plain, fast = (
        conf_of(SparkSettings(log_dir=tmp_path), fast_jvm=fast_jvm)["spark.driver.extraJavaOptions"]
        for fast_jvm in (False, True)
    )
    assert ("TieredStopAtLevel" in plain, "TieredStopAtLevel" in fast) == (False, True)
