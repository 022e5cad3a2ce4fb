"""What a test of a queue stands in: a queue, and the fake slots that grade for it.

A world may be slow: what a queue is told may reach its slots some milliseconds later, and the other way round. So tests
wait `until` something is so; and where something must not happen, they let the world `settle` before they look.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox_service.answers import Answer
from sandbox_service.bounds import Bounds
from sandbox_service.errors import QueueFull
from sandbox_service.queues.base import Job, JobQueue, Ticket
from sandbox_service.schema import Grade
from sandbox_service.slots import Owner
from tests.fakes import FakeSlot, Script, Tally, until

HANG_GUARD_SECONDS = 20.0
WIDE = Bounds(submissions=1000, bytes=1 << 20, cpu_seconds=1e6)


@dataclass
class World:
    """A queue and its slots.

    `settle_seconds`: in which everything that is under way has arrived. `ahead`: so many at most have their place in
    the order before they are begun, and keep it whatever comes. `count`: how many wait or are being graded, at this
    very moment; what the queue says of itself may be older.
    """

    queue: JobQueue
    slots: list[FakeSlot]
    tally: Tally
    settle_seconds: float
    ahead: int
    count: Callable[[], Awaitable[int]]

    async def submit(self, *jobs: Job) -> list[Ticket]:
        """All or none."""
        return await self.queue.submit(jobs)

    async def take(self, job: Job) -> Ticket:
        """Submit a single one."""
        [ticket] = await self.queue.submit([job])
        return ticket

    async def take_when_there_is_room(self, job: Job) -> Ticket:
        """Submit a single one, again and again while it is refused."""
        while True:
            try:
                return await self.take(job)
            except QueueFull:
                await asyncio.sleep(0.001)

    async def grade(self, job: Job) -> Grade:
        """Submit, wait, release: what the API does."""
        return await self.answer(await self.take(job))

    async def answer(self, ticket: Ticket) -> Grade:
        """Wait and release."""
        return (await self.raw(ticket)).grade()

    async def raw(self, ticket: Ticket) -> Answer:
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
    bounds: Bounds = WIDE
    suite_bytes: int = 1 << 20
    cache_seconds: float = 0.0


@dataclass
class Slots:
    """Makes fake slots, and knows them all."""

    script: Script
    tally: Tally = field(default_factory=Tally)
    made: list[FakeSlot] = field(default_factory=list)

    def make(self, index: int, owner: Owner) -> Any:
        """See slots.SlotFactory."""
        self.made.append(FakeSlot(index, owner, self.script, self.tally))
        return self.made[-1]


def ids(tickets: Sequence[Ticket]) -> list[str]:
    """Whose they are."""
    return [ticket.id for ticket in tickets]
