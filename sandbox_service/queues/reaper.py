"""Who notices that a worker is dead. Of all API processes one does, as long as it holds the ledger's lock."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox_service.answers import fault
from sandbox_service.ledger.entries import Lost, WorkerState
from sandbox_service.ledger.ledger import REAPER, Ledger

log = logging.getLogger(__name__)

LEAD_SECONDS = 2.0
DEAD_SECONDS = 2.0
LONGEST_LOOK_SECONDS = 0.75  # of the time between two looks only so much counts: we, or Redis, may have stood still


@dataclass
class _Watched:
    beats: int
    silent: float = 0.0


class Reaper:
    """Watches the workers' beats.

    A worker is dead when its beats have stood still for two seconds in which we looked, and Redis answered, again and
    again. So when Redis stands still, or this process does, nobody dies of it.
    """

    def __init__(self, ledger: Ledger, name: str) -> None:
        self._ledger = ledger
        self._name = name
        self._leads = False
        self._looked = time.monotonic()
        self._watched: dict[str, _Watched] = {}

    async def look(self, workers: Mapping[str, WorkerState]) -> None:
        """Reap who is dead. `workers` were just read. Raises redis.RedisError."""
        led, self._leads = self._leads, await self._ledger.lead(self._name, LEAD_SECONDS)
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, LONGEST_LOOK_SECONDS), now
        if not self._leads:
            self._watched.clear()
            return
        if not led:
            await self._answer(await self._ledger.reap(REAPER))  # what the last who led did not come to
        for name in self._dead(workers, passed):
            log.warning("worker_lost", extra={"reason": name})
            await self._answer(await self._ledger.reap(name))

    def _dead(self, workers: Mapping[str, WorkerState], passed: float) -> list[str]:
        watched = {}
        for name, state in workers.items():
            before = self._watched.get(name)
            same = before is not None and before.beats == state.beats
            watched[name] = _Watched(state.beats, before.silent + passed if before and same else 0.0)
        self._watched = watched
        return [name for name, each in watched.items() if each.silent >= DEAD_SECONDS]

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
