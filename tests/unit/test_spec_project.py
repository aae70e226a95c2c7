"""`samewise.yaml`, its environments and its secrets."""

from pathlib import Path

import pytest

from samewise.core.errors import UsageError
from samewise.spec.owners import Location
from samewise.spec.secrets import Secrets
from tests.support.spec import load, problems

ENVS = """\
project: shop
spark: {master: "local[2]", conf: {a: 1, b: 2}}
envs:
  prod:
    warehouse: s3a://lake/shop
    spark: {remote: "sc://spark:15002", conf: {b: 3}}
  nightly:
    spark: {conf: {c: true}}
"""


def test_everything_has_a_place_by_default(tmp_path: Path) -> None:
    loaded = load(tmp_path)

    assert loaded.warehouse == f"{tmp_path}/warehouse"
    assert loaded.staging == f"{tmp_path}/warehouse/_samewise/staging"
    assert loaded.quarantine == f"{tmp_path}/quarantine"
    assert loaded.state_url == f"sqlite:///{tmp_path}/.samewise/state.db"
    assert loaded.project.spark.effective_master == "local[*]"


def test_an_absolute_state_file_stays_where_it_is(tmp_path: Path) -> None:
    loaded = load(tmp_path, {"samewise.yaml": "project: shop\nstate: sqlite:////var/lib/state.db\n"})

    assert loaded.state_url == "sqlite:////var/lib/state.db"


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_postgresql_is_spoken_to_by_psycopg(tmp_path: Path, scheme: str) -> None:
    loaded = load(tmp_path, {"samewise.yaml": f"project: shop\nstate: {scheme}://u@h/d\n"})

    assert loaded.state_url == "postgresql+psycopg://u@h/d"


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://u:hunter2@h/d", "hunter2"])
def test_a_state_that_cannot_be_kept_is_refused_without_showing_it(tmp_path: Path, url: str) -> None:
    found = problems(tmp_path, {"samewise.yaml": f"project: shop\nstate: '{url}'\n"})

    assert found[0].startswith("samewise.yaml:2: state: must ")
    assert "hunter2" not in found[0]


def test_an_environment_is_laid_over_the_settings(tmp_path: Path) -> None:
    loaded = load(tmp_path, {"samewise.yaml": ENVS}, "prod")

    assert loaded.warehouse == "s3a://lake/shop"
    assert loaded.project.spark.conf == {"a": "1", "b": "3"}


def test_a_remote_of_the_environment_takes_the_place_of_the_master(tmp_path: Path) -> None:
    spark = load(tmp_path, {"samewise.yaml": ENVS}, "prod").project.spark

    assert (spark.effective_master, spark.remote) == (None, "sc://spark:15002")


def test_an_environment_that_says_nothing_of_the_master_keeps_it(tmp_path: Path) -> None:
    spark = load(tmp_path, {"samewise.yaml": ENVS}, "nightly").project.spark

    assert (spark.master, spark.conf["c"]) == ("local[2]", "true")


def test_an_unknown_environment_gets_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'prod'"):
        load(tmp_path, {"samewise.yaml": ENVS}, "prd")


def test_an_environment_that_is_not_chosen_is_checked_too(tmp_path: Path) -> None:
    found = problems(tmp_path, {"samewise.yaml": ENVS.replace("conf: {c", "cnf: {c")})

    assert found == ["samewise.yaml:8: envs.nightly.spark.cnf: unknown key, did you mean 'conf'?"]


def test_master_and_remote_exclude_each_other(tmp_path: Path) -> None:
    found = problems(tmp_path, {"samewise.yaml": "project: shop\nspark:\n  master: local\n  remote: sc://x\n"})

    assert found == ["samewise.yaml:4: spark.remote: excludes 'master': name one of the two"]


def test_a_secret_reaches_the_url_and_no_message(tmp_path: Path) -> None:
    text = 'project: shop\nstate: "postgresql://u:{{ env.PG_PASSWORD }}@h/d"\n'

    loaded = load(tmp_path, {"samewise.yaml": text}, PG_PASSWORD="hunter2")

    assert loaded.state_url == "postgresql+psycopg://u:hunter2@h/d"
    assert loaded.secrets.redact(f"cannot reach {loaded.state_url}") == "cannot reach postgresql+psycopg://u:***@h/d"
    assert "hunter2" not in repr(loaded)


def test_a_state_url_out_of_the_environment_is_checked_when_it_is_known(tmp_path: Path) -> None:
    text = 'project: shop\nstate: "{{ env.STATE }}"\n'

    assert load(tmp_path, {"samewise.yaml": text}, STATE="postgres://h/d").state_url == "postgresql+psycopg://h/d"
    assert "state: must be a sqlite" in problems(tmp_path, {"samewise.yaml": text}, STATE="mysql://h/d")[0]


def test_a_missing_variable_is_named_with_the_line_and_without_its_neighbours(tmp_path: Path) -> None:
    text = 'project: shop\nwarehouse: "{{ env.LAKE }}"\n'

    assert problems(tmp_path, {"samewise.yaml": text}, LAKES="hunter2") == [
        "samewise.yaml:2: warehouse: the environment variable LAKE is not set"
    ]


def test_a_missing_variable_of_an_environment_has_that_environments_line(tmp_path: Path) -> None:
    text = 'project: shop\nenvs:\n  prod:\n    warehouse: "{{ env.LAKE }}"\n'

    assert problems(tmp_path, {"samewise.yaml": text}, "prod")[0].startswith("samewise.yaml:4: envs.prod.warehouse")
    assert load(tmp_path, {"samewise.yaml": text}).pipelines


def test_settings_know_no_window(tmp_path: Path) -> None:
    found = problems(tmp_path, {"samewise.yaml": 'project: shop\nwarehouse: "{{ window.key }}"\n'})

    assert "samewise.yaml:2: warehouse: 'window' cannot be used here" in found


def test_a_table_is_a_folder_of_the_warehouse(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    pipeline = loaded.pipelines["orders_daily"]

    assert loaded.location(pipeline.tasks[0].target, pipeline) == Location(path=f"{tmp_path}/warehouse/orders")


def test_with_a_catalog_a_table_is_one_of_its_tables(tmp_path: Path) -> None:
    loaded = load(tmp_path, {"samewise.yaml": "project: shop\ncatalog: spark_catalog.shop\n"})
    pipeline = loaded.pipelines["orders_daily"]

    assert loaded.location(pipeline.tasks[0].target, pipeline) == Location(table=("spark_catalog", "shop", "orders"))


@pytest.mark.parametrize(
    "text", ["p@ss/word", "p%40ss%2Fword", '{"x": "p@ss/word"}', "before p@ss/word after", "p%40ss/word"]
)
def test_a_secret_is_hidden_however_it_is_spelled(text: str) -> None:
    secrets = Secrets()
    secrets.seen("p@ss/word")

    assert "word" not in secrets.redact(text)


def test_a_secret_that_holds_another_one_is_hidden_whole() -> None:
    secrets = Secrets()
    secrets.seen("hunter")
    secrets.seen("hunter2000")

    assert secrets.redact("hunter2000") == "***"


def test_a_short_value_is_hidden_only_where_it_stands_alone() -> None:
    secrets = Secrets()
    secrets.seen("a")

    assert secrets.redact("a table at a/b") == "*** table at ***/b"


def test_an_empty_value_hides_nothing() -> None:
    secrets = Secrets()
    secrets.seen("")

    assert secrets.redact("text") == "text"
