"""Who notices that a worker is dead. Of all API processes one does, as long as it holds the ledger's lock."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox_service.answers import fault
from sandbox_service.ledger.entries import Lost
from sandbox_service.ledger.ledger import REAPER, Ledger
from sandbox_service.ledger.pace import beat_seconds

log = logging.getLogger(__name__)

LEAD_SECONDS = 2.0
DEAD_BEATS = 4  # so many left out
LONGEST_LOOK_SECONDS = 0.75  # of the time between two looks only so much counts: we, or Redis, may have stood still


@dataclass
class _Watched:
    beats: int
    silent: float = 0.0


class Reaper:
    """Watches the workers' beats.

    A worker is dead when its beats have stood still for four times their distance (two seconds, where there are at most
    250 workers) in which we looked, and Redis answered, again and again. So when Redis stands still, or this process
    does, nobody dies of it.
    """

    def __init__(self, ledger: Ledger, name: str) -> None:
        self._ledger = ledger
        self._name = name
        self._leads = False
        self._looked = time.monotonic()
        self._watched: dict[str, _Watched] = {}
        self._most = 0.0  # workers, of late: those of a fleet that shrinks take a beat to notice

    async def look(self) -> None:
        """Reap who is dead. Raises redis.RedisError."""
        led, self._leads = self._leads, await self._ledger.lead(self._name, LEAD_SECONDS)
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, LONGEST_LOOK_SECONDS), now
        if not self._leads:
            self._watched.clear()
            return
        if not led:
            await self._answer(await self._ledger.reap(REAPER))  # what the last who led did not come to
        for name in self._dead(await self._ledger.beats(), passed):
            log.warning("worker_lost", extra={"reason": name})
            await self._answer(await self._ledger.reap(name))

    def _dead(self, beats: Mapping[str, int], passed: float) -> list[str]:
        watched = {}
        for name, count in beats.items():
            before = self._watched.get(name)
            same = before is not None and before.beats == count
            watched[name] = _Watched(count, before.silent + passed if before and same else 0.0)
        self._watched = watched
        self._most = max(len(beats), self._most * 0.9)
        longest = DEAD_BEATS * beat_seconds(round(self._most))
        return [name for name, each in watched.items() if each.silent >= longest]

    async def _answer(self, lost: list[Lost]) -> None:
        """Those who took too many workers with them."""
        answers = {
            each.id: fault(
                each.id,
                each.tests,
                "worker_lost",
                f"{each.attempts} grading processes ended while they had this submission",
                each.attempts,
            ).body
            for each in lost
        }
        if answers:
            await self._ledger.finish_lost(answers)
