"""Running a worker of a fleet: its loop, its log, and its end."""

from __future__ import annotations

import asyncio
import signal

import uvloop

from sandbox_service import bootstrap, garbage, hands, logs
from sandbox_service.serving import say_what_is_weaker
from sandbox_service.settings import Settings


def work(settings: Settings) -> int:
    """Grade for the fleet until SIGTERM or SIGINT; then finish what was begun. The exit status.

    Raises ConfigurationError if Redis would not keep what it is given.
    """
    logs.to_stderr(settings.log_level)
    hands.require_memory(settings.redis)
    say_what_is_weaker()
    uvloop.run(_work(settings))
    return 0


async def _work(settings: Settings) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with bootstrap.worker(settings) as worker:
        garbage.settle()
        await worker.run(stop, settings.shutdown_seconds)
