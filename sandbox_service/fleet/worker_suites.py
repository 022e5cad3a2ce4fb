"""The suites that a worker keeps: bytes that came with claims or were read from Redis, which only slots parse."""

from __future__ import annotations

from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.grading.suites import LruCache, Suite, id_of

MOST_SUITES = 10_000
SUITES_TO_NAME = 4  # that this worker used last, when it claims: the ledger need not send them


class WorkerSuites:
    """The suites that one worker used last."""

    def __init__(self, ledger: Ledger, most_bytes: int) -> None:
        """Keep no suite yet.

        Args:
            ledger: where the others are.
            most_bytes: of the suites that are kept.
        """
        self._ledger = ledger
        self._kept: LruCache[Suite] = LruCache(MOST_SUITES, most_bytes)

    def latest(self) -> tuple[str, ...]:
        """Return the ids of the suites that were used last."""
        return self._kept.latest(SUITES_TO_NAME)

    async def get(self, suite_id: str) -> Suite | None:
        """Return a suite; None if Redis does not have it or has other bytes under its id. Raises RedisError."""
        suite = self._kept.get(suite_id)
        if suite is None:
            body = await self._ledger.get_suite(suite_id)
            suite = self.keep(suite_id, body) if body is not None else None
        return suite

    def keep(self, suite_id: str, body: bytes) -> Suite | None:
        """Keep a suite.

        Args:
            suite_id: its id.
            body: its bytes.

        Returns:
            The suite; None if these are not its bytes.
        """
        if id_of(body) != suite_id:
            return None
        suite = Suite(suite_id, body, [])
        self._kept.put(suite_id, suite, len(body))
        return suite
