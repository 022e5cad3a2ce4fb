"""Assembles the service, a worker or a grader from the settings. Concrete classes are named here.

A slot process is assembled in slots/main.py, because it imports nothing of the service. What only some processes need
is imported where they are assembled: a worker has no HTTP, a service of one machine no Redis, and a grader has neither.
Each takes 0.1 to 0.4 s of CPU time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from sandbox_service.errors import ConfigurationError
from sandbox_service.grading import suites
from sandbox_service.grading.grader import Grader
from sandbox_service.grading.suites import Suite
from sandbox_service.languages import shown_libraries
from sandbox_service.queues.base import ObservedQueue
from sandbox_service.queues.local import LocalQueue
from sandbox_service.queues.quotas import LocalLevels, Quotas
from sandbox_service.sandbox import diagnosis
from sandbox_service.settings import Settings
from sandbox_service.slots import main
from sandbox_service.slots.process import SlotProcess, open_locks

if TYPE_CHECKING:
    from fastapi import FastAPI

    from sandbox_service.fleet.ledger.ledger import Ledger
    from sandbox_service.fleet.queue import FleetQueue
    from sandbox_service.fleet.worker import Worker

CONNECTIONS = 32
WAIT_SECONDS = 10.0  # longer than any wait for answers
CONNECT_SECONDS = 2.0
BODY_GROWTH = 6  # as JSON, a byte can take six


OpenQueue = Callable[[Settings], AbstractAsyncContextManager[ObservedQueue]]


def service(settings: Settings) -> FastAPI:
    """Return the service as an ASGI application."""
    from prometheus_client import CollectorRegistry, disable_created_metrics

    from sandbox_service.api import app
    from sandbox_service.observe.events import EventBatcher
    from sandbox_service.observe.history import History
    from sandbox_service.observe.key_metrics import KeyMetrics
    from sandbox_service.observe.metrics import Metrics
    from sandbox_service.observe.recheck import Rechecks
    from sandbox_service.observe.shared_boxes import SharingCounts

    disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each counter
    registry = CollectorRegistry()
    sharing = SharingCounts(registry)
    make_queue: OpenQueue = fleet_queue if settings.redis_url else local_queue

    @asynccontextmanager
    async def open_queue() -> AsyncIterator[tuple[ObservedQueue, History]]:
        async with AsyncExitStack() as stack:
            queue = await stack.enter_async_context(make_queue(settings))
            events = EventBatcher()
            queue.collect(events)
            history = History(events, settings.history_submissions, settings.history_bytes)
            if settings.redis_url:
                from sandbox_service.fleet.queue import FleetQueue
                from sandbox_service.observe.shared_history import shared

                assert isinstance(queue, FleetQueue)
                await stack.enter_async_context(shared(queue.ledger, history, settings.shared_history))
            Metrics(queue, events, registry)
            KeyMetrics(settings.key_terms, queue.quotas.refused, events, registry)
            if queue.quotas.are_any:  # not by batches, which may wait long for their last events
                queue.observe(queue.quotas)
            sharing.read_from(events)
            rechecks = Rechecks(
                queue, settings.recheck_share, registry, reorder_share=settings.reorder_share, flipped=history.flipped
            )
            stack.push_async_callback(rechecks.close)
            loop = asyncio.get_running_loop()
            application.state.begin_closing = lambda: loop.create_task(queue.drain(settings.shutdown_seconds))
            yield queue, history

    if settings.redis_url:  # workers grade, on machines of their own
        application = app.create(settings, open_queue, registry, sharing.report, relays_large=True)
    else:
        found = shown_libraries.found(settings.python, settings.library_names)
        libraries = {package.name: package.version for package in found}
        notes = diagnosis.weaknesses()
        application = app.create(settings, open_queue, registry, sharing.report, notes, libraries, relays_large=True)
    return application


@asynccontextmanager
async def local_queue(settings: Settings) -> AsyncIterator[LocalQueue]:
    """Open the queue of this process, with slots that are still starting."""
    locks = open_locks()
    queue = LocalQueue(
        lambda index, owner: SlotProcess(index, owner, locks),
        settings.slot_count,
        settings.bounds,
        settings.suite_bytes,
        settings.cache_seconds,
        settings.program_memory,
        Quotas(settings.key_terms, LocalLevels()),
    )
    try:
        yield queue
    finally:
        await queue.close()


@asynccontextmanager
async def fleet_queue(settings: Settings) -> AsyncIterator[FleetQueue]:
    """Open this process's end of a fleet's queue."""
    from sandbox_service.fleet.queue import FleetQueue
    from sandbox_service.fleet.wakeup import JobEnqueuer

    async with ledger(settings) as fleet_ledger:
        enqueuer = JobEnqueuer(settings.redis, settings.redis_name)
        queue = FleetQueue(
            fleet_ledger,
            enqueuer,
            settings.bounds,
            settings.suite_bytes,
            settings.cache_seconds,
            _read_suite,
            Quotas(settings.key_terms, fleet_ledger),
        )
        await queue.start()
        try:
            yield queue
        finally:
            await queue.close()


def _read_suite(body: bytes) -> Suite:
    """Return a suite from Redis; a large one is left unread, for the processes for large requests."""
    from sandbox_service.api.request_body import SMALL_BYTES

    return suites.read_small(body, SMALL_BYTES)


@asynccontextmanager
async def worker(settings: Settings) -> AsyncIterator[Worker]:
    """Open a worker, with slots of this machine that are still starting."""
    from sandbox_service.fleet.wakeup import JobListener
    from sandbox_service.fleet.worker import Worker

    locks = open_locks()
    async with ledger(settings) as fleet_ledger:
        yield Worker(
            fleet_ledger,
            lambda index, owner: SlotProcess(index, owner, locks),
            settings.slot_count,
            lambda name, take: JobListener(settings.redis, settings.redis_name, name, take),
            settings.suite_bytes,
            settings.program_memory,
        )


@asynccontextmanager
async def ledger(settings: Settings) -> AsyncIterator[Ledger]:
    """Open the ledger in the Redis of the settings. Raises ConfigurationError if its URL cannot be parsed."""
    from redis.asyncio import BlockingConnectionPool, Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    from sandbox_service.fleet import failover
    from sandbox_service.fleet.ledger.connection import connection_class
    from sandbox_service.fleet.ledger.ledger import Ledger

    try:
        url, watched = failover.split(settings.redis)
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS,
            timeout=WAIT_SECONDS,
            socket_timeout=WAIT_SECONDS,
            socket_connect_timeout=CONNECT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        pool.connection_class = connection_class(url)
    except ValueError as error:
        raise ConfigurationError(f"SANDBOX_REDIS_URL: {error}") from None
    sentinel = failover.async_sentinel(watched) if watched else None
    if watched and sentinel:
        pool.connection_class = failover.following_async(pool.connection_class, sentinel, watched.master)
    redis = Redis(connection_pool=pool)
    try:
        yield Ledger(
            redis,
            settings.redis_name,
            cache_seconds=round(settings.cache_seconds),
            max_body=BODY_GROWTH * settings.max_body_bytes,
            address=failover.address(settings.redis),
        )
    finally:
        await redis.aclose()
        await pool.disconnect()
        if sentinel:
            await sentinel.aclose()


@contextmanager
def grader(settings: Settings, index: int = 0) -> Iterator[Grader]:
    """Open a grader in this process, without slots: for benchmarks, tests and single jobs.

    Args:
        settings: the settings.
        index: the slot whose uids and processor the sandboxes use.

    Yields:
        The grader.

    Raises:
        SandboxError: no sandbox started, or it is not isolated.
    """
    jails = main.pool_of(settings, index)
    try:
        jails.open()
        yield main.grader_of(settings, jails)
    finally:
        jails.close()
