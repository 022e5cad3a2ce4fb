"""The heartbeat of a worker: reports that it lives, in a call of its own or along with steps (docs/decisions/0080)."""

from __future__ import annotations

import asyncio
import time

from sandbox_service.event_loop import wait_event
from sandbox_service.fleet.ledger.entries import Beat, Exchanged
from sandbox_service.fleet.ledger.intervals import beat_seconds
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.slots.pool import SlotPool


class Heartbeat:
    """The beats of one worker. The time between two grows with the fleet."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._beaten_at = 0.0
        self._pause = beat_seconds(1)
        self._carried: Exchanged | None = None  # the reply to a beat that went along with steps or a claim
        self._has_carried = asyncio.Event()

    def due(self, pool: SlotPool) -> Beat | None:
        """Return a beat to go along with a call, if it is the second half of the time to the next one.

        Args:
            pool: the slots of the worker.
        """
        if time.monotonic() - self._beaten_at < self._pause / 2:
            return None
        return Beat(pool.busy, pool.ready, pool.idle)

    def carried(self, found: Exchanged) -> None:
        """Note the reply to a beat that went along, which replaces the next one."""
        self._beaten_at = time.monotonic()
        self._carried = found
        self._has_carried.set()

    async def reply(self, worker: str, pool: SlotPool) -> Exchanged:
        """Return the reply to the beat that went along, or beat.

        Args:
            worker: its name.
            pool: its slots.

        Raises:
            UnknownWorkerError: the worker is not registered.
            RedisError: Redis cannot be reached or refuses.
        """
        found, self._carried = self._carried or await self._own(worker, pool), None
        self._pause = beat_seconds(found.need.workers)
        return found

    async def _own(self, worker: str, pool: SlotPool) -> Exchanged:
        """Beat in a call of its own."""
        found = await self._ledger.beat(worker, pool.busy, pool.ready, pool.idle)
        self._beaten_at = time.monotonic()
        return found

    async def wait(self) -> None:
        """Wait until the next beat, or until one has gone along."""
        await wait_event(self._has_carried, self._pause)
        self._has_carried.clear()

    def failed(self) -> None:
        """Beat again soon, as in a small fleet: with a whole pause more the worker would be taken for dead."""
        self._pause = beat_seconds(1)

    def forget(self) -> None:
        """Forget a reply that was to another name."""
        self._carried = None
