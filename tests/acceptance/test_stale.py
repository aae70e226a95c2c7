"""Loaded windows that are looked at again: the newest ones, those that differ, and those whose upstream has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from samewise.run.window import run_window
from tests.support.project import BASE, DAY, NEXT_DAY, PIPELINE, Answer, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = ["2026-04-24", DAY, NEXT_DAY]
SCHEDULE = {"every": "day", "start": DAYS[0], "end": "2026-04-27", "timezone": "UTC"}


class Killed(BaseException):
    """The process is gone."""


def told(answer: Answer) -> dict[str, tuple[str, str | None]]:
    assert answer.code == 0, answer.text
    return {w["window"]: (w["status"], w["reason"]) for w in answer.json["windows"]}


def statuses(answer: Answer) -> dict[str, str]:
    return {window: status for window, (status, _) in told(answer).items()}


def run(shop: Shop, *words: object) -> Answer:
    return shop.run(*words, window=None)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Shop:
    """Three days, all loaded."""
    shop = Shop(tmp_path_factory.mktemp("stale"))
    shop.pipeline({"schedule": {**SCHEDULE, "lookback": 2}, "transform": "orders.sql"})
    shop.write("pipelines/orders.sql", "SELECT * FROM source")
    for number, day in enumerate(DAYS):
        shop.orders([(number, "1.00", "new")], day=day)
    assert set(statuses(run(shop)).values()) == {"succeeded"}
    return shop


def test_the_newest_windows_are_looked_at_again_and_late_rows_found(loaded: Shop) -> None:
    assert statuses(run(loaded)) == {DAY: "unchanged", NEXT_DAY: "unchanged"}
    # Late rows for the first and the second day: only the second one is within the last two.
    loaded.orders([(10, "1.00", "late")], day=DAYS[0], file="part-2.csv")
    loaded.orders([(11, "1.00", "late")], day=DAY, file="part-2.csv")
    assert told(run(loaded)) == {DAY: ("succeeded", "the source changed"), NEXT_DAY: ("unchanged", None)}


def test_stale_windows_are_listed_with_the_reason_and_nothing_is_done(loaded: Shop) -> None:
    version = loaded.version()
    assert told(run(loaded, "--stale", "--dry-run")) == {DAYS[0]: ("planned", "the source changed")}
    assert loaded.version() == version


def test_another_kind_of_difference_is_not_asked_for(loaded: Shop) -> None:
    for kind in ("definition", "contract", "target"):
        assert told(run(loaded, "--stale", kind)) == {}


def test_just_the_stale_windows_are_run(loaded: Shop) -> None:
    answer = loaded.do("run", PIPELINE, "--stale")
    assert f"{PIPELINE} {DAYS[0]}: the source changed" in answer.stderr
    assert "1 succeeded" in answer.stdout
    assert told(run(loaded, "--stale")) == {}


def test_a_changed_definition_makes_every_window_stale(loaded: Shop) -> None:
    loaded.write("pipelines/orders.sql", "SELECT order_id, amount, upper(status) AS status, order_date FROM source")
    assert told(run(loaded, "--stale", "source", "--dry-run")) == {}
    found = told(run(loaded, "--stale=definition", "--dry-run"))
    assert found == dict.fromkeys(DAYS, ("planned", "the definition changed"))


def test_rows_that_were_deleted_by_hand_make_every_window_stale(loaded: Shop, spark: SparkSession) -> None:
    assert run(loaded, "--stale", "definition").code == 0
    spark.sql(f"DELETE FROM delta.`{loaded.root}/warehouse/orders` WHERE order_date = DATE'{DAY}'")
    # The log does not say which windows a DELETE by hand has touched.
    found = told(run(loaded, "--stale", "target", "--dry-run"))
    assert set(found.values()) == {("planned", "the target was changed by someone else")}


def test_a_window_whose_source_was_archived_is_left_as_it_is(loaded: Shop) -> None:
    kept = list((loaded.root / "landing" / DAYS[0]).iterdir())
    texts = [path.read_text() for path in kept]
    for path in kept:
        path.unlink()
    answer = loaded.do("run", PIPELINE, "--stale", "source")
    assert (answer.code, f"{DAYS[0]}: left as it is: no file matches" in answer.stderr) == (0, True)
    for path, text in zip(kept, texts, strict=True):
        path.write_text(text)


@pytest.mark.parametrize("words", [["--window", DAY], ["--force"]])
def test_stale_finds_its_windows_itself(loaded: Shop, words: list[str]) -> None:
    answer = run(loaded, "--stale", *words)
    assert (answer.code, answer.json["error"]["code"]) == (2, "usage")


def test_a_word_that_is_no_kind_of_stale_is_refused(loaded: Shop) -> None:
    assert run(loaded, "--stale=later").code == 2


def test_windows_that_were_loaded_under_an_older_contract_are_stale_when_asked(shop: Shop, spark: SparkSession) -> None:
    place = f"{shop.root}/warehouse/events"
    spark.sql(f"SELECT 1L AS order_id, DATE'{DAY}' AS order_date").write.format("delta").save(place)
    shop.pipeline({"source": {"type": "delta", "table": "events", "window_column": "order_date"}})
    assert shop.run().code == 0
    spark.sql(f"ALTER TABLE delta.`{place}` ADD COLUMNS (note STRING)")
    assert told(run(shop, "--stale")) == {}
    assert shop.do("contract", PIPELINE, "--accept").code == 0
    # Nothing that the window reads has changed: an ordinary run leaves it.
    assert shop.run().window["status"] == "unchanged"
    assert told(run(shop, "--stale", "contract")) == {DAY: ("succeeded", "it was loaded under an older contract")}
    assert told(run(shop, "--stale")) == {}


# What depends on a window that has changed

TASKS: list[dict[str, Any]] = [
    {
        "task": "orders",
        "source": BASE["source"],
        "target": {"type": "delta", "table": "orders"},
        "write": BASE["write"],
    },
    {
        "task": "daily",
        "depends_on": ["orders"],
        "source": {"type": "delta", "table": "orders", "window_column": "order_date"},
        "transform": "daily.sql",
        "target": {"type": "delta", "table": "daily"},
        "write": {"strategy": "replace_window", "window_column": "order_date"},
    },
]


def test_a_window_that_changed_makes_the_one_that_depends_on_it_due_even_if_the_process_died_between(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = {**SCHEDULE, "start": DAY, "end": NEXT_DAY}
    spec = {"pipeline": PIPELINE, "schedule": schedule, "tasks": TASKS}
    shop.write("pipelines/orders.yaml", yaml.safe_dump(spec, sort_keys=False))
    shop.write("pipelines/daily.sql", "SELECT order_date, count(*) AS n FROM source GROUP BY order_date")
    shop.orders([(1, "1.00", "new")])
    assert run(shop).code == 0
    assert run(shop).json["windows"] == []
    shop.orders([(2, "1.00", "late")], file="part-2.csv")
    planned = run(shop, "--stale", "source", "--dry-run").json["windows"]
    assert [(w["task"], w["window"]) for w in planned] == [("orders", DAY), ("daily", DAY)], "as the run would go"

    def dies_before_daily(job: Any, *rest: Any) -> Any:
        if job.task == "daily":
            raise Killed
        return run_window(job, *rest)

    with monkeypatch.context() as patched:
        patched.setattr("samewise.run.pipeline.run_window", dies_before_daily)
        with pytest.raises(Killed):
            shop.run()
    assert [(w["task"], w["window"], w["status"]) for w in run(shop).json["windows"]] == [("daily", DAY, "succeeded")]
    assert shop.rows(spark, "n", table="daily") == [(2,)]
    assert run(shop).json["windows"] == []
