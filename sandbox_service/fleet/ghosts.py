"""Finds the ghosts of a worker: submissions that it does not have although Redis says so. Redis lost its last steps."""

from __future__ import annotations

import time
from collections.abc import Set

from sandbox_service.fleet.ledger.ledger import Ledger

GHOST_SECONDS = 5.0  # between two looks


class GhostFinder:
    """Compares a worker's submissions with those that it holds by the ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._looked_at = 0.0
        self._seen: set[str] = set()

    async def find(self, worker: str, count: int, known: Set[str]) -> set[str]:
        """Return the ids of ghosts that were seen twice, so that no claim is on its way.

        Args:
            worker: its name.
            count: how many submissions it holds by the ledger. Their ids are read only if these are more than it has.
            known: the ids that it has, and those whose steps it has not sent.

        Raises:
            RedisError: Redis cannot be reached or refuses.
        """
        if count <= len(known):
            self._seen.clear()
            return set()
        if time.monotonic() - self._looked_at < GHOST_SECONDS:
            return set()
        self._looked_at = time.monotonic()
        before, self._seen = self._seen, set(await self._ledger.held(worker)) - known
        return self._seen & before
