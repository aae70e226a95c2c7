"""Values that came from the environment, so that no message, log or page shows them."""

from __future__ import annotations

import json
import re
from urllib.parse import quote, unquote

MASK = "***"
_SHORT = 4


class Secrets:
    """Remembers values, and takes them out of any text. Grows as templates are rendered."""

    def __init__(self) -> None:
        self._values: set[str] = set()

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)} values)"

    def seen(self, value: str) -> None:
        """Remember a value. A second call with the same one changes nothing."""
        if value.strip():
            # The same secret as a URL or a JSON document spells it: a driver's message may show either.
            spellings = (value, quote(value, safe=""), quote(value), unquote(value), json.dumps(value)[1:-1])
            self._values.update(spelling for spelling in spellings if spelling.strip())

    def redact(self, text: str) -> str:
        """The text with every remembered value replaced by `***`."""
        # Longest first: a value that is part of another one must not leave the rest of it standing.
        for value in sorted(self._values, key=len, reverse=True):
            pattern = re.escape(value)
            if len(value) < _SHORT:
                # `a` or `1` would take a message apart: only where it stands alone.
                pattern = rf"(?<!\w){pattern}(?!\w)"
            text = re.sub(pattern, MASK, text)
        return text
