"""Keeps a lease, or those of a group, alive while the run works."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from samewise.core.errors import LeaseLost, SamewiseError
from samewise.state import leases
from samewise.state.leases import Lease
from samewise.state.store import Store


class Heartbeat:
    """Renews leases from a thread of its own, three times in its life, until the block ends.

    An error that may pass is tried again until they have run out. Then, or when another runner
    took over one of them, `lost` becomes true and stays so.
    """

    def __init__(self, store: Store, *held: Lease) -> None:
        self._store = store
        self._held = list(held)
        self._cause: Exception | None = None
        self._lost = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="samewise-heartbeat", daemon=True)

    @property
    def lost(self) -> bool:
        return self._lost.is_set()

    def check(self) -> None:
        """Raise `LeaseLost` if the lease is lost; the cause goes with it."""
        if not self.lost:
            return
        if isinstance(self._cause, LeaseLost):
            raise self._cause
        lease = self._held[0]
        raise LeaseLost(
            f"{lease.target} {lease.window_key}: the lease ran out, as it could not be renewed: {self._cause}",
            kept="this attempt writes nothing any more",
            next_step="run the same command again; it goes on from what has landed",
        ) from self._cause

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _beat(self) -> None:
        ttl = self._held[0].ttl_seconds
        # Counted on this machine's monotonic clock from before each renewal: never later than the store's.
        runs_out_at = time.monotonic() + ttl
        pause = ttl / 3
        while not self._stop.wait(pause):
            asked_at = time.monotonic()
            try:
                self._held = self._renewed()
            except LeaseLost as error:
                return self._give_up(error)
            except SamewiseError as error:
                if time.monotonic() >= runs_out_at:
                    return self._give_up(error)
                self._cause = error
                pause = min(1.0, ttl / 10)
            except Exception as error:  # a bug; whoever runs must hear of it, and a thread cannot raise
                return self._give_up(error)
            else:
                runs_out_at = asked_at + ttl
                pause = ttl / 3
        return None

    def _renewed(self) -> list[Lease]:
        if len(self._held) == 1:
            return [leases.renew(self._store, self._held[0])]
        return leases.renew_all(self._store, self._held)

    def _give_up(self, error: Exception) -> None:
        self._cause = error
        self._lost.set()
