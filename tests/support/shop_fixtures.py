"""The fixture of tests that drive a whole project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.project import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A project with one pipeline and no data. What needs Spark asks for `spark` too."""
    shop = Shop(tmp_path / "shop")
    shop.pipeline()
    return shop
