"""The documentation leaves nothing out, and names nothing that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import samewise
from samewise.cli.app import app
from samewise.cli.guard import INTERRUPTED
from samewise.core import errors
from samewise.core.errors import SamewiseError
from samewise.core.failpoints import Failpoint
from samewise.core.ports import Source, Target
from samewise.plan.protocol import planned_steps
from samewise.run.results import Status
from samewise.spec.json_schema import pipeline_json_schema, project_json_schema
from samewise.spec.pipeline import RESERVED_PARAMS
from samewise.spec.templates import WINDOW_NAMES, sandbox
from tests.docs.pages import PAGES, ROOT, Block, all_blocks, blocks, inline_code, page, prose, table, text_of

WRITING = page("docs/writing-a-pipeline.md")
HOW = page("docs/how-it-works.md")
TARGETS = page("docs/adding-a-target.md")
ADRS = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))
COMMANDS: dict[str, Any] = dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
# --help explains itself; of --example there is one value so far, the default.
OPTIONS = sorted(
    {
        option
        for command in COMMANDS.values()
        for parameter in command.params
        for option in parameter.opts
        # A hidden one is for our own processes.
        if option.startswith("--") and not getattr(parameter, "hidden", False)
    }
    - {"--help", "--example"}
)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def keys(schema: object) -> Iterator[str]:
    """Every key that a JSON Schema allows, at any depth."""
    if isinstance(schema, dict):
        for name, part in schema.items():
            if name == "properties":
                yield from part
            yield from keys(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from keys(part)


def slug(heading: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def links() -> list[tuple[Path, str]]:
    found = [(of, link) for of in PAGES for link in _LINK.findall(prose(of))]
    return [(of, link) for of, link in found if not link.startswith("http")]


@pytest.mark.parametrize(("of", "link"), links(), ids=lambda part: getattr(part, "name", part))
def test_a_link_leads_somewhere(of: Path, link: str) -> None:
    place, _, anchor = link.partition("#")
    target = of if not place else (of.parent / place).resolve()
    assert target.exists()
    if anchor:
        headings = re.findall(r"^#+ (.+)$", prose(target), re.MULTILINE)
        assert anchor in {slug(heading) for heading in headings}


@pytest.mark.parametrize("block", [block for of in PAGES for block in blocks(of)], ids=str)
def test_a_block_says_what_it_is_so_that_it_can_be_checked(block: Block) -> None:
    assert block.language in ("console", "sh", "yaml", "toml", "sql", "python", "json")


@pytest.mark.parametrize("key", sorted({*keys(project_json_schema()), *keys(pipeline_json_schema())}))
def test_a_key_of_the_files_is_explained(key: str) -> None:
    headings = re.findall(r"^### (\w+)$", prose(WRITING), re.MULTILINE)
    assert key in (*headings, *(code.removesuffix(":") for code in inline_code(WRITING)))


@pytest.mark.parametrize("name", RESERVED_PARAMS)
def test_a_bound_parameter_is_explained(name: str) -> None:
    assert f":{name}" in inline_code(WRITING)


def test_every_filter_and_window_name_of_a_template_is_explained() -> None:
    from zoneinfo import ZoneInfo

    told = {re.sub(r"\(.*", "", code) for code in inline_code(WRITING)}
    assert {*sandbox(ZoneInfo("UTC")).filters, *(f"window.{name}" for name in WINDOW_NAMES)} <= told


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_a_command_is_explained(command: str) -> None:
    shown = [*inline_code(page("README.md")), *inline_code(page("docs/operations.md"))]
    assert any(code.split()[:2] == ["samewise", command] for code in shown)


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_is_shown_somewhere(option: str) -> None:
    pages = "".join(of.read_text(encoding="utf-8") for of in PAGES)
    assert re.search(rf"{option}\b", pages)


def shown_commands() -> list[str]:
    inline = [code for of in PAGES for code in inline_code(of) if code.startswith("samewise ")]
    lines = [line for block in all_blocks("sh", "console") for line in block.text.splitlines()]
    typed = [line.removeprefix("$ ").partition("samewise ")[2] for line in lines if "samewise " in line]
    return sorted({*inline, *(f"samewise {rest}" for rest in typed if rest and not rest.startswith("["))})


@pytest.mark.parametrize("shown", shown_commands())
def test_a_command_that_is_shown_exists(shown: str) -> None:
    words = shown.split()
    command = COMMANDS[words[1]]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\bmake (\w+)", "".join(b.text for b in all_blocks("sh"))))))
def test_a_make_target_that_is_shown_exists(target: str) -> None:
    assert re.search(rf"^{target}:", text_of("Makefile"), re.MULTILINE)


@pytest.mark.parametrize("point", list(Failpoint))
def test_a_failpoint_is_in_the_protocol_table(point: Failpoint) -> None:
    assert any(f"`{point}`" in row[2] for row in table(HOW, "#"))


@pytest.mark.parametrize("point", list(Failpoint))
def test_what_a_kill_leaves_is_told_for_every_failpoint(point: Failpoint) -> None:
    assert any(f"`{point}`" in row[0] for row in table(HOW, "killed at"))


def test_the_protocol_table_has_the_steps_of_a_run() -> None:
    steps = [step.value.replace("_", " ") for step in planned_steps(stages=True)]
    assert [row[1] for row in table(HOW, "#")] == ["plan", *steps]


def subclasses(of: type[SamewiseError]) -> Iterator[type[SamewiseError]]:
    yield of
    for one in of.__subclasses__():
        yield from subclasses(one)


def test_the_exit_codes_are_those_of_the_errors() -> None:
    told = {int(row[0]) for row in table(WRITING, "exit")}
    ours = [error for error in subclasses(SamewiseError) if error.__module__ == errors.__name__]
    assert told == {0, INTERRUPTED, *(error.exit_code for error in ours)}


def test_only_the_code_for_a_retry_is_said_to_be_retried() -> None:
    told = {int(row[0]) for row in table(WRITING, "exit") if row[2] == "retry"}
    assert told == {error.exit_code for error in subclasses(SamewiseError) if error.retryable}


@pytest.mark.parametrize("status", list(Status))
def test_a_status_is_listed(status: Status) -> None:
    assert status.value in inline_code(WRITING)


def methods(protocol: type) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")}


def test_the_methods_of_a_target_are_all_explained() -> None:
    assert {re.sub(r"\(.*", "", row[0].strip("`")) for row in table(TARGETS, "method")} == methods(Target)


def test_the_methods_of_a_source_are_all_named() -> None:
    assert methods(Source) <= set(inline_code(TARGETS))


@pytest.mark.parametrize("place", sorted({code for code in inline_code(TARGETS) if re.fullmatch(r"[\w/]+\.py", code)}))
def test_a_file_that_is_named_is_there(place: str) -> None:
    if "NAME" in place:
        assert (ROOT / "src/samewise" / place.removeprefix("src/samewise/")).parent.is_dir()
    else:
        assert (ROOT / place).exists() or (ROOT / "src/samewise" / place).exists()


@pytest.mark.parametrize("name", samewise.__all__)
def test_a_public_name_is_explained(name: str) -> None:
    told = [re.sub(r"\(.*", "", code) for row in table(page("docs/python.md"), "name") for code in row[0].split("`")]
    assert name in told or any(part.startswith(f"{name}.") for part in told)


def test_what_a_result_is_said_to_have_it_has() -> None:
    told = {row[0].strip("`"): re.findall(r"`(\w+)", row[1]) for row in table(page("docs/python.md"), "name")}
    for name in ("RunResult", "WindowResult", "SamewiseError", "Window"):
        kind = getattr(samewise, name)
        known = {*dir(kind), *dir(kind("x") if name == "SamewiseError" else kind)}
        assert set(told[name]) <= known, name


def test_every_status_is_named_for_python() -> None:
    rows = {row[0]: row[1] for row in table(page("docs/python.md"), "name")}
    assert re.findall(r"`(\w+)`", rows["`Status`"]) == [status.name for status in Status]


@pytest.mark.parametrize("adr", ADRS, ids=lambda adr: adr.stem)
def test_a_decision_says_what_was_rejected_and_what_it_costs(adr: Path) -> None:
    text = adr.read_text(encoding="utf-8")
    assert re.findall(r"^\*\*(Problem|Decision|Rejected|Costs)\.", text, re.MULTILINE) == [
        "Problem",
        "Decision",
        "Rejected",
        "Costs",
    ]


def test_every_decision_is_in_the_list_and_numbered_without_a_gap() -> None:
    listed = re.findall(r"\((\d{3}-[\w-]+\.md)\)", text_of("docs/adr/README.md"))
    assert listed == [adr.name for adr in ADRS]
    assert [int(adr.name[:3]) for adr in ADRS] == list(range(1, len(ADRS) + 1))


def test_the_changelog_tells_about_this_version() -> None:
    assert f"## [{samewise.__version__}]" in text_of("CHANGELOG.md")
