"""A fleet as a world: a Redis, an API process's queue and a worker, all in one event loop, with fake slots."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from sandbox_service import bootstrap
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.lookahead import AHEAD, LEAST_AHEAD
from sandbox_service.fleet.queue import FleetQueue
from sandbox_service.fleet.wakeup import CHUNK, JobEnqueuer, JobListener
from sandbox_service.fleet.worker import Worker
from sandbox_service.queues.quotas import Quotas
from sandbox_service.settings import Settings
from tests.fakes import until
from tests.queues.world import Setup, Slots, World
from tests.redis_server import RedisServer, running_redis

DRAIN_SECONDS = 0.1
SETTLE_SECONDS = 0.7  # a beat, by which cancellations travel, and something


@dataclass
class Fleet:
    """What a fleet's world is made of, for those who disturb it."""

    world: World
    redis: RedisServer
    ledger: Ledger
    queue: FleetQueue


@asynccontextmanager
async def fleet_world(setup: Setup) -> AsyncIterator[World]:
    """See `running_fleet`."""
    async with running_fleet(setup) as fleet:
        yield fleet.world


@asynccontextmanager
async def running_fleet(setup: Setup) -> AsyncIterator[Fleet]:
    """When it is closed no worker is left, and nothing is held; what was not graded waits in Redis for another."""
    slots = Slots(setup.script)
    async with AsyncExitStack() as stack:
        redis = stack.enter_context(running_redis())
        settings = Settings(redis_url=redis.url, cache_seconds=setup.cache_seconds)
        ledger = await stack.enter_async_context(bootstrap.ledger(settings))
        name = settings.redis_name
        queue = FleetQueue(
            ledger,
            JobEnqueuer(redis.url, name),
            setup.bounds,
            setup.suite_bytes,
            setup.cache_seconds,
            quotas=Quotas(setup.terms, ledger),
        )
        workers = [
            Worker(
                ledger,
                slots.make,
                setup.slots // setup.workers,
                lambda worker, take: JobListener(redis.url, name, worker, take),
                setup.suite_bytes,
                setup.memory_bytes,
            )
            for _ in range(setup.workers)
        ]

        async def count() -> int:
            return (await ledger.totals()).count

        await queue.start()
        stop = asyncio.Event()
        working = [asyncio.create_task(worker.run(stop, DRAIN_SECONDS)) for worker in workers]
        await until(lambda: len(queue.workers()) == setup.workers and not queue.unready())
        # what a worker may hold and still claim more, and what it claims then
        ahead = max(AHEAD * setup.slots, LEAST_AHEAD) - 1 + CHUNK
        try:
            yield Fleet(World(queue, slots.made, slots.tally, SETTLE_SECONDS, ahead, count), redis, ledger, queue)
        finally:
            await queue.close()
            stop.set()
            await asyncio.gather(*working)
        assert all(slot.closed for slot in slots.made)
        assert await ledger.workers() == {}
        totals = await ledger.totals()
        assert totals.count == totals.waiting
