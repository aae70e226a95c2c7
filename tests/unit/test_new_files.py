"""Which files are new."""

from __future__ import annotations

from samewise.core.ports import FoundFile
from samewise.plan.new_files import Loaded, choose_files, ledger_path

ROOT = "/home/shop"
FILE = FoundFile(f"{ROOT}/landing/a.csv", 10, "v1")


def test_a_file_that_was_loaded_is_not_new() -> None:
    assert choose_files([FILE], {"landing/a.csv": Loaded(10, "v1")}, ROOT) == ([], [])


def test_a_file_that_the_ledger_does_not_have_is_new_whatever_its_name_and_time() -> None:
    late = FoundFile(f"{ROOT}/landing/0001.csv", 10, "v0")
    assert choose_files([late, FILE], {"landing/a.csv": Loaded(10, "v1")}, ROOT) == ([late], [])


def test_another_time_of_the_same_size_is_a_changed_file() -> None:
    assert choose_files([FILE], {"landing/a.csv": Loaded(10, "v0")}, ROOT) == ([], [FILE])


def test_another_size_at_the_same_time_is_a_changed_file() -> None:
    assert choose_files([FILE], {"landing/a.csv": Loaded(9, "v1")}, ROOT) == ([], [FILE])


def test_a_file_that_is_gone_concerns_nobody() -> None:
    assert choose_files([], {"landing/a.csv": Loaded(10, "v1")}, ROOT) == ([], [])


def test_a_project_that_was_moved_knows_its_files() -> None:
    moved = FoundFile("/srv/shop/landing/a.csv", 10, "v1")
    assert choose_files([moved], {"landing/a.csv": Loaded(10, "v1")}, "/srv/shop/") == ([], [])


def test_a_file_elsewhere_keeps_its_whole_path() -> None:
    assert ledger_path("s3a://bucket/a.csv", ROOT) == "s3a://bucket/a.csv"
    assert ledger_path("/home/shop2/a.csv", ROOT) == "/home/shop2/a.csv"


def test_a_name_that_is_no_utf8_can_be_stored() -> None:
    assert ledger_path(f"{ROOT}/\udce4.csv", ROOT).encode() == b"\\udce4.csv"
