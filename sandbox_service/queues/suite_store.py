"""The suites of a fleet, from an API process's side: what Redis has of them, and for how much longer."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence

from sandbox_service import suites
from sandbox_service.ledger.ledger import Ledger
from sandbox_service.suites import Shelf, Suite

INLINE_SECONDS = 3600
PUT_SECONDS = 86_400
REFRESH_SECONDS = 600.0
MOST_SUITES = 100_000


class SuiteStore:
    """Suites in Redis, and those of them that were read here lately. Redis's errors pass through."""

    def __init__(self, ledger: Ledger, most_bytes: int) -> None:
        self._ledger = ledger
        self._read: Shelf[Suite] = Shelf(MOST_SUITES, most_bytes)
        self._sent: dict[str, float] = {}  # what Redis has, and since when we know
        self._kept = time.monotonic()

    async def put(self, suite: Suite) -> bool:
        """Keep one for those who will name it. Whether it is new."""
        self._read.put(suite.id, suite, len(suite.body))
        return await self._send(suite, PUT_SECONDS)

    async def get(self, suite_id: str) -> Suite | None:
        """One that was put; None if it is not there, or is not what its name says."""
        known = self._read.get(suite_id)
        if known is None:
            body = await self._ledger.get_suite(suite_id)
            if body is None or suites.id_of(body) != suite_id:
                return None
            known = suites.read(body)
            self._read.put(suite_id, known, len(body))
        return known

    async def missing(self, suite_ids: Sequence[str]) -> list[str]:
        """Which of these Redis has not."""
        return await self._ledger.missing_suites(suite_ids)

    async def ensure(self, wanted: Iterable[Suite]) -> None:
        """Make sure that Redis has these."""
        now = time.monotonic()
        for suite in {suite.id: suite for suite in wanted}.values():
            if now - self._sent.get(suite.id, -math.inf) >= REFRESH_SECONDS:
                await self._send(suite, INLINE_SECONDS)

    async def send(self, wanted: Iterable[Suite]) -> None:
        """Put these, though Redis may have them."""
        for suite in {suite.id: suite for suite in wanted}.values():
            await self._send(suite, INLINE_SECONDS)

    def doubt(self, suite_id: str) -> None:
        """Redis may have lost it."""
        self._sent.pop(suite_id, None)

    async def keep(self, wanted: Mapping[str, Suite]) -> None:
        """See to it, now and then, that Redis keeps what is still needed, however long that takes."""
        now = time.monotonic()
        if now - self._kept < REFRESH_SECONDS / 4:
            return
        self._kept = now
        stale = [each for each in wanted if now - self._sent.get(each, -math.inf) > REFRESH_SECONDS / 2]
        for missing in await self._ledger.missing_suites(stale):
            await self._ledger.put_suite(missing, wanted[missing].body, INLINE_SECONDS)
        self._sent.update(dict.fromkeys(stale, now))

    async def _send(self, suite: Suite, seconds: int) -> bool:
        is_new = await self._ledger.put_suite(suite.id, suite.body, seconds)
        if len(self._sent) > MOST_SUITES:
            self._sent.clear()
        self._sent[suite.id] = time.monotonic()
        return is_new
