from tests.support.state import state_url, store

__all__ = ["state_url", "store"]
