"""The implementations of JobQueue, each with its slots, and helpers of the tests of their contract."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from sandbox_service.bounds import Bounds
from sandbox_service.queues.local import LocalQueue
from sandbox_service.queues.quotas import LocalLevels, Quotas
from tests.fakes import Script, always
from tests.guards import HANG_GUARD_SECONDS
from tests.queues.fleet_world import fleet_world
from tests.queues.world import WIDE, Setup, Slots, World


@asynccontextmanager
async def local_world(setup: Setup) -> AsyncIterator[World]:
    """The queue of one process. When it is closed, nothing is left."""
    slots = Slots(setup.script)
    queue = LocalQueue(
        slots.make,
        setup.slots,
        setup.bounds,
        setup.suite_bytes,
        setup.cache_seconds,
        setup.memory_bytes,
        Quotas(setup.terms, LocalLevels()),
    )

    async def count() -> int:
        return queue.depth().submissions

    try:
        yield World(queue, slots.made, slots.tally, settle_seconds=0.02, ahead=0, count=count)
    finally:
        await queue.close()
    assert all(slot.closed for slot in slots.made)
    depth = queue.depth()
    assert (depth.submissions, depth.waiting, depth.bytes, depth.oldest_seconds) == (0, 0, 0, 0)
    assert depth.cpu_seconds < 1e-6  # sums of fractions


WORLDS: dict[str, Callable[[Setup], AbstractAsyncContextManager[World]]] = {"local": local_world, "fleet": fleet_world}

Scenario = Callable[[World], Awaitable[None]]


def play(kind: str, scenario: Scenario, script: Script | None = None, **setup: Any) -> None:
    """Run a scenario in a loop of its own; it must come to its end."""

    async def run() -> None:
        async with WORLDS[kind](Setup(script or always("AC"), **setup)) as world:
            await asyncio.wait_for(scenario(world), HANG_GUARD_SECONDS)

    asyncio.run(run())


def bounded(submissions: int = WIDE.submissions, size: int = WIDE.bytes, cpu_seconds: float = 1e6) -> Bounds:
    """Bounds that are wide except for those given."""
    return Bounds(submissions, size, cpu_seconds)


def names(count: int, prefix: str = "") -> list[str]:
    """Numbered ids."""
    return [f"{prefix}{number}" for number in range(count)]
