"""Where concrete classes are named, and nowhere else: settings in, working parts out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from sandbox_service import slot
from sandbox_service.api import app
from sandbox_service.grader import Grader
from sandbox_service.jails import diagnosis
from sandbox_service.metrics import MeteredQueue
from sandbox_service.queues.base import JobQueue
from sandbox_service.queues.local import LocalQueue
from sandbox_service.settings import Settings
from sandbox_service.slots import SlotProcess, open_locks


def service(settings: Settings) -> FastAPI:
    """The whole service as an ASGI application."""
    registry = CollectorRegistry()

    @asynccontextmanager
    async def open_queue() -> AsyncIterator[JobQueue]:
        async with local_queue(settings) as queue:
            loop = asyncio.get_running_loop()
            application.state.begin_closing = lambda: loop.create_task(queue.drain(settings.shutdown_seconds))
            yield MeteredQueue(queue, registry)

    application = app.create(settings, open_queue, registry, diagnosis.weaknesses())
    return application


@asynccontextmanager
async def local_queue(settings: Settings) -> AsyncIterator[LocalQueue]:
    """The queue of this process with its slots, which are still starting."""
    locks = open_locks()
    queue = LocalQueue(
        lambda index, owner: SlotProcess(index, owner, locks),
        settings.slot_count,
        settings.queue_submissions,
        settings.queue_bytes,
    )
    try:
        yield queue
    finally:
        await queue.close()


@contextmanager
def grader(settings: Settings, index: int = 0) -> Iterator[Grader]:
    """A grader in this very process, with the jails of slot `index`: for benchmarks, tests and one-off jobs."""
    jails = slot.pool_of(settings, index)
    try:
        jails.open()
        yield slot.grader_of(settings, jails)
    finally:
        jails.close()
