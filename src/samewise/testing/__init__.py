"""For tests, also of teams that use nothing else of Samewise: is a table the same, is a job safe to run again?

from samewise.testing import assert_same_table
"""

from __future__ import annotations

from samewise.testing.same_table import NotTheSame, assert_same_table

__all__ = ["NotTheSame", "assert_same_table"]
