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
        locks = open_locks()
        queue = LocalQueue(
            lambda index, owner: SlotProcess(index, owner, locks),
            settings.slot_count,
            settings.queue_submissions,
            settings.queue_bytes,
        )
        try:
            loop = asyncio.get_running_loop()
            application.state.begin_closing = lambda: loop.create_task(queue.drain(settings.shutdown_seconds))
            yield MeteredQueue(queue, registry)
        finally:
            await queue.close()

    application = app.create(settings, open_queue, registry)
    return application


@contextmanager
def grader(settings: Settings, index: int = 0) -> Iterator[Grader]:
    """A grader in this very process, with the jails of slot `index`: for benchmarks, tests and one-off jobs."""
    jails = slot.pool_of(settings, index)
    try:
        jails.open()
        yield slot.grader_of(settings, jails)
    finally:
        jails.close()
