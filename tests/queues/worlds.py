"""The queues that must keep the contract, each in a world of its own: a queue, and the fake slots that grade for it.

A world may be slow: what a queue is told may reach its slots some milliseconds later, and the other way round. So tests
wait `until` something is so; and where something must not happen, they let the world `settle` before they look.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from sandbox_service.answers import Answer
from sandbox_service.errors import QueueFull
from sandbox_service.queues.base import Bounds, Job, JobQueue, Ticket
from sandbox_service.queues.local import LocalQueue
from sandbox_service.schema import Grade
from sandbox_service.slots import Owner
from tests.fakes import FakeSlot, Script, Tally, always, until

HANG_GUARD_SECONDS = 20.0
WIDE = Bounds(submissions=1000, bytes=1 << 20, cpu_seconds=1e6)


@dataclass
class World:
    """A queue and its slots. `settle_seconds`: in which everything that is under way has arrived."""

    queue: JobQueue
    slots: list[FakeSlot]
    tally: Tally
    settle_seconds: float

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
        await until(lambda: self.queue.depth().submissions == submissions)

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


@asynccontextmanager
async def local_world(setup: Setup) -> AsyncIterator[World]:
    """The queue of one process. When it is closed, nothing is left."""
    slots = Slots(setup.script)
    queue = LocalQueue(slots.make, setup.slots, setup.bounds, setup.suite_bytes, setup.cache_seconds)
    try:
        yield World(queue, slots.made, slots.tally, 0.02)
    finally:
        await queue.close()
    assert all(slot.closed for slot in slots.made)
    depth = queue.depth()
    assert (depth.submissions, depth.waiting, depth.bytes, depth.oldest_seconds) == (0, 0, 0, 0)
    assert depth.cpu_seconds < 1e-6  # sums of fractions


WORLDS: dict[str, Callable[[Setup], AbstractAsyncContextManager[World]]] = {"local": local_world}

Scenario = Callable[[World], Awaitable[None]]


def play(kind: str, scenario: Scenario, script: Script | None = None, **setup: Any) -> None:
    """Run a scenario in a loop of its own; it must come to its end."""

    async def run() -> None:
        async with WORLDS[kind](Setup(script or always("AC"), **setup)) as world:
            await asyncio.wait_for(scenario(world), HANG_GUARD_SECONDS)

    asyncio.run(run())


def ids(tickets: Sequence[Ticket]) -> list[str]:
    """Whose they are."""
    return [ticket.id for ticket in tickets]
