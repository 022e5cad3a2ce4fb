"""Where concrete classes are named, and nowhere else: settings in, working parts out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from sandbox_service import slot
from sandbox_service.api import app
from sandbox_service.errors import ConfigurationError
from sandbox_service.grader import Grader
from sandbox_service.hands import Caller, Pump
from sandbox_service.jails import diagnosis
from sandbox_service.ledger.connection import connection_class
from sandbox_service.ledger.ledger import Ledger
from sandbox_service.metrics import Metrics
from sandbox_service.queues.local import LocalQueue
from sandbox_service.queues.rq import RqQueue
from sandbox_service.recent import RecordedQueue
from sandbox_service.recheck import RecheckedQueue
from sandbox_service.settings import Settings
from sandbox_service.slots import SlotProcess, open_locks
from sandbox_service.worker import Worker

CONNECTIONS = 32
WAIT_SECONDS = 10.0  # longer than any wait for answers
CONNECT_SECONDS = 2.0
BODY_GROWTH = 6  # as JSON, a byte can take six


def service(settings: Settings) -> FastAPI:
    """The whole service as an ASGI application."""
    registry = CollectorRegistry()

    make_queue = fleet_queue if settings.redis_url else local_queue

    @asynccontextmanager
    async def open_queue() -> AsyncIterator[RecordedQueue]:
        async with make_queue(settings) as queue:
            outer = RecordedQueue(RecheckedQueue(queue, settings.recheck_share, registry))
            Metrics(queue, outer.journal, registry)
            loop = asyncio.get_running_loop()
            application.state.begin_closing = lambda: loop.create_task(outer.drain(settings.shutdown_seconds))
            yield outer

    application = app.create(settings, open_queue, registry, () if settings.redis_url else diagnosis.weaknesses())
    return application


@asynccontextmanager
async def local_queue(settings: Settings) -> AsyncIterator[LocalQueue]:
    """The queue of this process with its slots, which are still starting."""
    locks = open_locks()
    queue = LocalQueue(
        lambda index, owner: SlotProcess(index, owner, locks),
        settings.slot_count,
        settings.bounds,
        settings.suite_bytes,
        settings.cache_seconds,
    )
    try:
        yield queue
    finally:
        await queue.close()


@asynccontextmanager
async def fleet_queue(settings: Settings) -> AsyncIterator[RqQueue]:
    """This process's end of a fleet."""
    async with ledger(settings) as books:
        caller = Caller(settings.redis, settings.redis_name)
        queue = RqQueue(books, caller, settings.bounds, settings.suite_bytes, settings.cache_seconds)
        await queue.start()
        try:
            yield queue
        finally:
            await queue.close()


@asynccontextmanager
async def worker(settings: Settings) -> AsyncIterator[Worker]:
    """A worker with the slots of this machine, which are still starting."""
    locks = open_locks()
    async with ledger(settings) as books:
        yield Worker(
            books,
            lambda index, owner: SlotProcess(index, owner, locks),
            settings.slot_count,
            lambda name, take: Pump(settings.redis, settings.redis_name, name, take),
            settings.suite_bytes,
        )


@asynccontextmanager
async def ledger(settings: Settings) -> AsyncIterator[Ledger]:
    """The ledger in the Redis of the settings. Raises ConfigurationError if its URL cannot be understood."""
    try:
        pool = BlockingConnectionPool.from_url(
            settings.redis,
            max_connections=CONNECTIONS,
            timeout=WAIT_SECONDS,
            socket_timeout=WAIT_SECONDS,
            socket_connect_timeout=CONNECT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        pool.connection_class = connection_class(settings.redis)
    except ValueError as error:
        raise ConfigurationError(f"SANDBOX_REDIS_URL: {error}") from None
    redis = Redis(connection_pool=pool)
    try:
        yield Ledger(
            redis,
            settings.redis_name,
            cache_seconds=round(settings.cache_seconds),
            max_body=BODY_GROWTH * settings.max_body_bytes,
        )
    finally:
        await redis.aclose()
        await pool.disconnect()


@contextmanager
def grader(settings: Settings, index: int = 0) -> Iterator[Grader]:
    """A grader in this very process, with the jails of slot `index`: for benchmarks, tests and one-off jobs."""
    jails = slot.pool_of(settings, index)
    try:
        jails.open()
        yield slot.grader_of(settings, jails)
    finally:
        jails.close()
