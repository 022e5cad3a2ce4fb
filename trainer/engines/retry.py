"""Helpers for requests to a server that may restart: coalesced calls, bounded retries, scoped tasks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from trainer.episode import Completion
from trainer.errors import InterruptedGenerationError, UnavailableError

T = TypeVar("T")

FIRST_DELAY, MOST_DELAY = 0.1, 3.0


class Coalesced(Generic[T]):
    """Coalesces concurrent calls: a call's result serves every caller that asked before it started. One call runs at
    a time.
    """

    def __init__(self, ask: Callable[[], Awaitable[T]]) -> None:
        self._ask = ask
        self._now: asyncio.Task[T] | None = None
        self._next: asyncio.Task[T] | None = None

    async def __call__(self) -> T:
        if self._next is None:
            self._next = asyncio.create_task(self._put(self._now))
            self._next.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(self._next)

    async def _put(self, before: asyncio.Task[T] | None) -> T:
        if before:
            await asyncio.wait([before])
        self._now, self._next = self._next, None
        return await self._ask()

    async def close(self) -> None:
        """Cancel the calls in flight."""
        for task in filter(None, [self._now, self._next]):
            task.cancel()
            await asyncio.wait([task])


async def until_sampled(attempt: Callable[[], Awaitable[Completion]], patience_seconds: float) -> Completion:
    """Return a sample. Attempts that vLLM interrupts are repeated, with increasing delays.

    Raises:
        UnavailableError: Attempts have failed for more than twice `patience_seconds`.
    """
    failed_since, delay = 0.0, FIRST_DELAY
    while True:
        try:
            return await attempt()
        except InterruptedGenerationError as interrupted:
            failed_since = failed_since or time.monotonic()
            if time.monotonic() - failed_since > 2 * patience_seconds:  # HealthMonitor reports an absent vLLM earlier
                raise UnavailableError(f"vLLM is up but returns no sample: {interrupted}") from None
        await asyncio.sleep(delay)
        delay = min(delay * 1.5, MOST_DELAY)


@asynccontextmanager
async def cancelled_on_exit(*work: Any) -> AsyncIterator[list[asyncio.Task[Any]]]:
    """Run awaitables as tasks, yield these in the same order, and cancel them at the end of the block."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
