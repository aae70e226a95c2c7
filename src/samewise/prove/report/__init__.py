"""How a proof is told: to a person, a machine, a test runner, a browser."""

from __future__ import annotations

from samewise.prove.report.lines import text
from samewise.prove.report.machine import junit, to_json
from samewise.prove.report.page import html

__all__ = ["html", "junit", "text", "to_json"]
