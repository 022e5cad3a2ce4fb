"""The environment of a queue's tests: a queue, and the fake slots that grade for it.

Queue and slots may see each other's changes some milliseconds later. So tests wait `until` a condition holds, and let
the world `settle` before they assert that something has not happened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox_service.bounds import Bounds
from sandbox_service.bounds.api_keys import KeyTerms
from sandbox_service.errors import QueueFullError
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.queues.base import Job, JobQueue, Waiter
from sandbox_service.schema import Grade
from sandbox_service.slots.pool import UNBOUNDED_BYTES
from sandbox_service.slots.process import SlotOwner
from tests.fakes import FakeSlot, Script, Tally, until

WIDE = Bounds(submissions=1000, bytes=1 << 20, cpu_seconds=1e6)


@dataclass
class World:
    """A queue and its slots.

    `settle_seconds`: after so long, everything that is under way has arrived. `ahead`: the most submissions whose order
    is fixed before they begin. `count`: how many wait or are being graded right now; `depth` may be older.
    """

    queue: JobQueue
    slots: list[FakeSlot]
    tally: Tally
    settle_seconds: float
    ahead: int
    count: Callable[[], Awaitable[int]]

    async def submit(self, *jobs: Job) -> list[Waiter]:
        """All or none."""
        return await self.queue.submit(jobs)

    async def take(self, job: Job) -> Waiter:
        """Submit a single one."""
        [ticket] = await self.queue.submit([job])
        return ticket

    async def take_when_there_is_room(self, job: Job) -> Waiter:
        """Submit a single one, again and again while it is refused."""
        while True:
            try:
                return await self.take(job)
            except QueueFullError:
                await asyncio.sleep(0.001)

    async def grade(self, job: Job) -> Grade:
        """Submit, wait, release: what the API does."""
        return await self.answer(await self.take(job))

    async def answer(self, ticket: Waiter) -> Grade:
        """Wait and release."""
        return (await self.raw(ticket)).grade()

    async def raw(self, ticket: Waiter) -> EncodedGrade:
        """Wait and release; the answer as it travels."""
        try:
            return await asyncio.shield(ticket.answer)
        finally:
            ticket.release()

    async def until_held(self, *codes: str) -> None:
        """Until slots hold these."""
        await until(lambda: all(self.holder(code) for code in codes))

    def holder(self, code: str) -> FakeSlot | None:
        """The slot that holds this one."""
        return next((slot for slot in self.slots if slot.is_holding(code)), None)

    def finish(self, code: str, what: str = "AC") -> None:
        """Have the slot that holds it answer."""
        slot = self.holder(code)
        assert slot is not None
        slot.finish(what)

    async def until_depth(self, submissions: int) -> None:
        """Until so many are waiting or being graded."""
        while await self.count() != submissions:
            await asyncio.sleep(0.001)

    async def settle(self) -> None:
        """So long that what is not to happen would have happened."""
        await asyncio.sleep(self.settle_seconds)

    @property
    def given(self) -> list[str]:
        """What the first slot was given, in order."""
        return self.slots[0].given


@dataclass(frozen=True)
class Setup:
    """What a world is made of."""

    script: Script
    slots: int = 1
    workers: int = 1  # among which the slots are, where there are workers
    bounds: Bounds = WIDE
    suite_bytes: int = 1 << 20
    cache_seconds: float = 0.0
    terms: Mapping[str, KeyTerms] = field(default_factory=dict)  # of API keys, by their names
    memory_bytes: int = UNBOUNDED_BYTES  # of each worker


@dataclass
class Slots:
    """Makes fake slots, and knows them all."""

    script: Script
    tally: Tally = field(default_factory=Tally)
    made: list[FakeSlot] = field(default_factory=list)

    def make(self, index: int, owner: SlotOwner) -> Any:
        """See slots.SlotFactory."""
        self.made.append(FakeSlot(index, owner, self.script, self.tally))
        return self.made[-1]


def ids(tickets: Sequence[Waiter]) -> list[str]:
    """Whose they are."""
    return [ticket.id for ticket in tickets]
