"""Enqueues the wake-ups that are missing, from an event loop."""

from __future__ import annotations

import asyncio

from sandbox_service.fleet.ledger.entries import Need
from sandbox_service.fleet.wakeup import JobEnqueuer

ENOUGH_SECONDS = 0.01  # between two checks whether a wake-up is missing, if none was


class Waker:
    """Wakes workers for one API process. All needs that are noted during a call share the next one."""

    def __init__(self, enqueuer: JobEnqueuer) -> None:
        self._enqueuer = enqueuer
        self._need = Need(0, 0, 0)
        self._has_need = asyncio.Event()

    def note(self, need: Need) -> None:
        """Note the numbers of waiting submissions, workers and slots; `run` enqueues the missing wake-ups."""
        self._need = need
        self._has_need.set()

    async def run(self) -> None:
        """Enqueue missing wake-ups until this is cancelled. Raises RedisError.

        A check whether one is missing costs as much as a submission, so there is a pause when none was.
        """
        while True:
            await self._has_need.wait()
            self._has_need.clear()
            if not await asyncio.to_thread(self._enqueuer.enqueue_missing, *self._need):
                await asyncio.sleep(ENOUGH_SECONDS)

    def close(self) -> None:
        """Close the connection."""
        self._enqueuer.close()
