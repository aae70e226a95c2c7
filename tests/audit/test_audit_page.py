"""docs/audit.md: its files are written, its commands are run, and what comes out is what is shown."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from samewise.audit.config import Settings, parse
from samewise.audit.finding import Level
from samewise.audit.rules import RULES
from samewise.cli.app import app
from tests.docs.pages import ROOT, blocks, page, table
from tests.docs.session import matches

PAGE = page("docs/audit.md")


def test_what_the_page_shows_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    commands = 0
    for block in blocks(PAGE):
        if block.file is not None:
            (tmp_path / block.file).parent.mkdir(exist_ok=True)
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for part in block.text.removeprefix("$ ").split("\n$ "):
                command, _, shown = part.partition("\n")
                answer = CliRunner().invoke(app, command.split()[1:])
                assert matches(shown.rstrip("\n") + "\n", answer.output), answer.output
                commands += 1
    assert commands == 3


def test_the_settings_that_are_shown_are_taken() -> None:
    (block,) = [block for block in blocks(PAGE) if block.language == "toml"]
    shown = tomllib.loads(block.text)["tool"]["samewise"]["audit"]
    settings = parse(shown, "pyproject.toml")
    assert {name.replace("_", "-") for name in Settings.__slots__} == set(shown)
    assert settings.fail_on == "error"


def test_the_hook_that_is_shown_is_ours() -> None:
    (block,) = [block for block in blocks(PAGE) if block.language == "yaml"]
    (shown,) = yaml.safe_load(block.text)["repos"]
    (ours,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert shown["hooks"] == [{"id": ours["id"]}]


def test_every_rule_is_in_the_table() -> None:
    assert [row[1] for row in table(PAGE, "rule")] == [rule.title for rule in RULES]


def test_every_level_is_in_the_table_with_its_exit_code() -> None:
    told = {row[0]: int(row[2]) for row in table(PAGE, "level")}
    assert told == {level.value: 3 if Settings().fails(level) else 0 for level in Level}
