"""`proctor worker`: runs a worker of a fleet until a signal ends it."""

from __future__ import annotations

import asyncio
import signal

import uvloop

from sandbox_service import allocator, bootstrap, event_loop
from sandbox_service.errors import logs
from sandbox_service.fleet import health, wakeup
from sandbox_service.sandbox import diagnosis
from sandbox_service.settings import Settings


def work(settings: Settings) -> int:
    """Grade for the fleet until SIGTERM or SIGINT, then finish the work in progress.

    A worker whose sandboxes fail ends after a minute, so that a supervisor or a rollout notices.

    Args:
        settings: The settings.

    Returns:
        The exit status.

    Raises:
        ConfigurationError: Redis is configured to drop data, or used by a version that this one cannot share it with.
        SandboxError: No sandbox has worked for a minute.
    """
    logs.to_stderr(settings.log_level)
    wakeup.require_usable(settings.redis, settings.redis_name)
    diagnosis.log_weaknesses()
    uvloop.run(_work(settings))
    return 0


async def _work(settings: Settings) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with (
        bootstrap.worker(settings) as worker,
        health.serving(settings.host, settings.health_port, worker.unready),
    ):
        event_loop.tune_gc()
        allocator.return_large_blocks()
        await worker.run(stop, settings.shutdown_seconds)
