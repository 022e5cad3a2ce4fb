"""Helpers for processes that run an event loop: bounded waits, ending background tasks, and tuning of the collector."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

CANCEL_AGAIN_SECONDS = 0.5
GC_THRESHOLD = 200_000  # objects allocated and not freed; some 20 MB


async def wait_event(event: asyncio.Event, timeout_seconds: float) -> None:
    """Wait until the event is set or the timeout has passed."""
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_seconds):
            await event.wait()


async def cancel_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel the tasks and wait until they have ended.

    A library may take a cancellation for a lost connection and continue, so tasks that are still running are cancelled
    again every `CANCEL_AGAIN_SECONDS`.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_SECONDS)


def tune_gc() -> None:
    """Freeze the start-up objects and raise the threshold of the cycle collector.

    The objects of a service live until its end, and the objects of a submission are freed by their reference counts. By
    default the collector searches both every few hundred allocations. With thousands of submissions in flight, a search
    every 50,000 allocations still takes a twentieth of the CPU time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
