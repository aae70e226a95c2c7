"""The example that `samewise init` writes."""

from __future__ import annotations

import csv
import hashlib
import json
import time
from decimal import Decimal
from pathlib import Path

import pytest

from samewise.cli.example import DAYS, FIRST_DAY, ZONE, orders_of, write_example
from samewise.core.errors import ConfigError, UsageError
from samewise.core.windows import parse_instant
from samewise.spec.load import load_project


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example") / "shop"
    write_example(folder)
    return folder


def days(shop: Path) -> list[Path]:
    return sorted((shop / "landing" / "orders").iterdir())


def rows(day: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for path in sorted(day.glob("*.csv")):
        with path.open(newline="") as file:
            found += csv.DictReader(file)
    return found


def test_the_project_is_valid(shop: Path) -> None:
    assert list(load_project(shop, None, {}).pipelines) == ["orders_daily"]


def test_the_project_is_called_like_its_folder(shop: Path) -> None:
    assert load_project(shop, None, {}).project.project == "shop"


def test_a_folder_whose_name_is_no_project_name_gives_one_that_is(tmp_path: Path) -> None:
    write_example(tmp_path / "Our Shop, 2026")
    assert load_project(tmp_path / "Our Shop, 2026", None, {}).project.project == "our_shop_2026"


def test_there_are_seven_days_of_two_or_three_files(shop: Path) -> None:
    assert [len(list(day.glob("*.csv"))) for day in days(shop)] == [2, 3, 2, 3, 2, 3, 2]


def test_every_manifest_promises_what_is_there(shop: Path) -> None:
    for day in days(shop):
        found = rows(day)
        total = sum(Decimal(row["amount"]) for row in found)
        assert json.loads((day / "manifest.json").read_text()) == {
            "rows": len(found),
            "sums": {"amount": str(total)},
        }


def test_a_day_has_about_two_thousand_rows(shop: Path) -> None:
    assert all(1_800 < len(rows(day)) < 2_300 for day in days(shop))


def test_every_row_belongs_to_its_day_in_the_pipelines_zone(shop: Path) -> None:
    for day in days(shop):
        for row in rows(day):
            assert row["order_date"] == day.name
            assert parse_instant(row["updated_at"]).astimezone(ZONE).date().isoformat() == day.name


def test_some_orders_changed_their_status(shop: Path) -> None:
    for day in days(shop):
        found = rows(day)
        assert 50 < len(found) - len({row["order_id"] for row in found}) < 500


def test_an_order_has_one_last_word(shop: Path) -> None:
    for day in days(shop):
        found = [(row["order_id"], row["updated_at"]) for row in rows(day)]
        assert len(found) == len(set(found))


def test_no_order_number_is_used_on_two_days(shop: Path) -> None:
    numbers = [{row["order_id"] for row in rows(day)} for day in days(shop)]
    assert len(set().union(*numbers)) == sum(len(day) for day in numbers)


def test_the_data_is_the_same_everywhere_and_for_ever(shop: Path) -> None:
    text = "".join(path.read_text() for day in days(shop) for path in sorted(day.glob("*.csv")))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "8b79a7b42c002f86"


def test_samewise_yaml_is_written_last(tmp_path: Path) -> None:
    assert write_example(tmp_path / "shop")[-1] == tmp_path / "shop" / "samewise.yaml"


def test_making_a_day_takes_no_time_worth_mentioning() -> None:
    started = time.process_time()
    orders_of(FIRST_DAY)
    assert (time.process_time() - started) * DAYS < 0.3


def test_a_project_is_not_overwritten(tmp_path: Path) -> None:
    write_example(tmp_path)
    with pytest.raises(UsageError, match="is a project already"):
        write_example(tmp_path)


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(UsageError, match="is not empty"):
        write_example(tmp_path)


def test_a_refused_folder_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(UsageError):
        write_example(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


def test_a_repository_that_was_just_made_is_empty_enough(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write_example(tmp_path)
    assert (tmp_path / "samewise.yaml").is_file()


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shop").touch()
    with pytest.raises(UsageError, match="is a file"):
        write_example(tmp_path / "shop")


def test_a_place_that_cannot_be_written_is_a_config_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be written"):
        write_example(tmp_path / "file" / "shop")


def test_an_unknown_example_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        write_example(tmp_path / "shop", "order")
    assert caught.value.next_step == "choose one of: orders, postgres"


def test_the_shop_in_postgresql_is_valid_and_has_no_landing_folder(tmp_path: Path) -> None:
    write_example(tmp_path / "shop", "postgres")
    assert list(load_project(tmp_path / "shop", None, {}).pipelines) == ["shop_daily"]
    assert not (tmp_path / "shop" / "landing").exists()
