from __future__ import annotations

from tests.support.postgres import postgres_server
from tests.support.shop_fixtures import shop

__all__ = ["postgres_server", "shop"]
