"""Suites of a fleet, for an API process: puts them into Redis, keeps them there, and caches those it has read."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.grading import suites
from sandbox_service.grading.suites import LruCache, Suite

INLINE_SECONDS = 3600
PUT_SECONDS = 86_400
REFRESH_SECONDS = 600.0
MOST_SUITES = 100_000
MOST_FACTS = 10_000

ReadSuite = Callable[[bytes], Suite]


class SuiteStore:
    """Suites in Redis, with a cache of those read here. Redis' errors pass through."""

    def __init__(self, ledger: Ledger, most_bytes: int, read: ReadSuite = suites.read) -> None:
        self._ledger = ledger
        self._read_suite = read
        self._read: LruCache[Suite] = LruCache(MOST_SUITES, most_bytes)
        self._facts: LruCache[Suite] = LruCache(MOST_FACTS, 1 << 40)
        self._sent: dict[str, float] = {}  # suites that Redis has, and when that was last known, monotonic
        self._kept_at = time.monotonic()

    async def put(self, suite: Suite) -> bool:
        """Keep a suite for submissions that will name it. Return whether it is new."""
        self._read.put(suite.id, suite, len(suite.body))
        return await self._send(suite, PUT_SECONDS)

    async def get(self, suite_id: str) -> Suite | None:
        """Return a suite; None if Redis does not have it, or has other bytes under its id."""
        known = self._read.get(suite_id)
        if known is None:
            body = await self._ledger.get_suite(suite_id)
            if body is None or suites.id_of(body) != suite_id:
                return None
            known = self._read_suite(body)
            self._read.put(suite_id, known, len(body))
        facts = None if known.is_read else self._facts.get(suite_id)
        return known if facts is None else replace(facts, body=known.body)

    def learn(self, facts: Suite) -> None:
        """Remember the facts that another process has read from a suite whose body is too large to read here."""
        self._facts.put(facts.id, facts, 0)

    async def missing(self, suite_ids: Sequence[str]) -> list[str]:
        """Return the ids of those suites that Redis does not have."""
        return await self._ledger.missing_suites(suite_ids)

    async def ensure(self, wanted: Iterable[Suite]) -> None:
        """Put suites that Redis may not have."""
        now = time.monotonic()
        for suite in {suite.id: suite for suite in wanted}.values():
            if now - self._sent.get(suite.id, -math.inf) >= REFRESH_SECONDS:
                await self._send(suite, INLINE_SECONDS)

    async def send(self, wanted: Iterable[Suite]) -> None:
        """Put suites, even if Redis has them."""
        for suite in {suite.id: suite for suite in wanted}.values():
            await self._send(suite, INLINE_SECONDS)

    def doubt(self, suite_id: str) -> None:
        """Assume that Redis has lost a suite."""
        self._sent.pop(suite_id, None)

    async def keep(self, wanted: Mapping[str, Suite]) -> None:
        """Extend the time of suites that pending submissions need. Call it often; it acts every few minutes."""
        now = time.monotonic()
        if now - self._kept_at < REFRESH_SECONDS / 4:
            return
        self._kept_at = now
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
