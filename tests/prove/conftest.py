from __future__ import annotations

from tests.support.shop_fixtures import shop

__all__ = ["shop"]
