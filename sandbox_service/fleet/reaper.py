"""Detects dead workers by their beats. One API process at a time does this, the one that holds the ledger's lock."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox_service.fleet.ledger.entries import Lost
from sandbox_service.fleet.ledger.intervals import dead_seconds
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.ledger.workers import REAPER
from sandbox_service.grading.encoded_grade import fault
from sandbox_service.schema import FailureKind

log = logging.getLogger(__name__)

LEAD_SECONDS = 2.0
MEND_SECONDS = 10.0  # between two looks at the lists and counts: with 1,000 workers one takes a millisecond
LONGEST_LOOK_SECONDS = 0.75  # that count of the time between two looks: this process or Redis may have stalled
FORGETS = 0.97  # so much of the former size counts after a look: two thirds of it after the longest beat


@dataclass
class _Beats:
    beats: int
    silent: float = 0.0


class Reaper:
    """Watches the workers' beats.

    A worker is dead when no beat has come for `dead_seconds` (two, with up to 50 workers) while this process looked and
    Redis answered. Time in which Redis or this process stalls does not count.
    """

    def __init__(self, ledger: Ledger, name: str) -> None:
        self._ledger = ledger
        self._name = name
        self._leads = False
        self._looked_at = time.monotonic()
        self._watched: dict[str, _Beats] = {}
        self._mended_at = self._looked_at
        self._most = 0.0  # workers lately: in a shrinking fleet they shorten their beats one beat late, see FORGETS

    async def look(self) -> None:
        """Reap dead workers, if this process has the lock. Raises redis.RedisError."""
        led, self._leads = self._leads, await self._ledger.lead(self._name, LEAD_SECONDS)
        now = time.monotonic()
        passed, self._looked_at = min(now - self._looked_at, LONGEST_LOOK_SECONDS), now
        if not self._leads:
            self._watched.clear()
            return
        if not led:
            await self._answer(
                await self._ledger.reap(REAPER)
            )  # lost submissions that the last process with the lock did not answer
        if now - self._mended_at >= MEND_SECONDS:
            self._mended_at = now
            if await self._ledger.mend():
                log.warning("ledger_mended", extra={"reason": "another program has deleted a part of it"})
        for name in self._dead(await self._ledger.beats(), passed):
            log.warning("worker_lost", extra={"reason": name})
            await self._answer(await self._ledger.reap(name))

    def _dead(self, beats: Mapping[str, int], passed: float) -> list[str]:
        watched = {}
        for name, count in beats.items():
            before = self._watched.get(name)
            same = before is not None and before.beats == count
            watched[name] = _Beats(count, before.silent + passed if before and same else 0.0)
        self._watched = watched
        self._most = max(len(beats), self._most * FORGETS)
        longest = dead_seconds(round(self._most))
        return [name for name, each in watched.items() if each.silent >= longest]

    async def _answer(self, lost: list[Lost]) -> None:
        """Answer submissions that were lost with too many workers."""
        answers = {
            each.id: fault(
                each.id,
                each.tests,
                FailureKind.WORKER_LOST,
                f"{each.attempts} grading processes ended while they had this submission",
                each.attempts,
            ).body
            for each in lost
        }
        if answers:
            await self._ledger.finish_lost(answers)
