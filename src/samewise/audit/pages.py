"""The pages about the rules: they lie in docs/rules, and are packed into the wheel beside this file."""

from __future__ import annotations

from pathlib import Path

_PACKED = Path(__file__).parent / "rule_pages"
_IN_CHECKOUT = Path(__file__).parents[3] / "docs" / "rules"


def page(rule: str) -> str | None:
    """The text about a rule, or None where there is no such page."""
    for folder in (_PACKED, _IN_CHECKOUT):
        file = folder / f"{rule}.md"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return None
