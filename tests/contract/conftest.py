from tests.support.postgres import postgres_server
from tests.support.state import state_url, store

__all__ = ["postgres_server", "state_url", "store"]
