"""The pages of the documentation, and what is in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# docs/benchmarks.md is written by `make bench`.
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if page.name != "benchmarks.md"),
]
# What these show is run by tests/audit.
AUDIT_PAGES = [ROOT / "docs" / "audit.md", *sorted((ROOT / "docs" / "rules").glob("*.md"))]
_FENCE = re.compile(r"^```(\w*)$")
_PATH_COMMENT = re.compile(r"^(?:#|--) ((?:\w+/)*\w+\.(?:yaml|sql|py))$")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `file` is the path that its first line names in a comment."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def file(self) -> str | None:
        found = _PATH_COMMENT.match(self.text.partition("\n")[0])
        return found[1] if found else None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def page(name: str) -> Path:
    return ROOT / name


def text_of(name: str) -> str:
    return page(name).read_text(encoding="utf-8")


def blocks(of: Path) -> Iterator[Block]:
    """Every fenced block of a page, in order."""
    language, begun, body = None, 0, list[str]()
    for number, line in enumerate(of.read_text(encoding="utf-8").splitlines(), start=1):
        fence = _FENCE.match(line)
        if fence is None:
            body.append(line)
        elif language is None:
            language, begun, body = fence[1], number, []
        else:
            yield Block(of, begun, language, "\n".join(body) + "\n")
            language = None
    assert language is None, f"{of.name}: the block of line {begun} has no end"


def all_blocks(*languages: str) -> list[Block]:
    """Every block in one of these languages, of every page."""
    pages = [of for of in PAGES if of not in AUDIT_PAGES]
    return [block for of in pages for block in blocks(of) if block.language in languages]


def prose(of: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", of.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def inline_code(of: Path) -> list[str]:
    """Everything in single backticks, outside the blocks."""
    return re.findall(r"`([^`\n]+)`", prose(of))


def table(of: Path, first_header: str) -> list[list[str]]:
    """The cells of the table whose first column has this header."""
    lines = of.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_header} |"))
    rows: list[list[str]] = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows
