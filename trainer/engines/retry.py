"""Helpers for requests to a server that may restart: coalesced calls, bounded retries, scoped tasks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from trainer.errors import UnavailableError

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


class Retry:
    """Bounds how long one request is retried, with increasing delays."""

    def __init__(self, patience_seconds: float) -> None:
        self._patience = patience_seconds
        self._since = 0.0
        self._delay = FIRST_DELAY

    async def backoff(self, what: str) -> None:
        """Sleep after a failed attempt, longer each time; `what` names the operation in messages.

        Raises:
            UnavailableError: Attempts have failed for more than twice `patience_seconds`.
        """
        self._since = self._since or time.monotonic()
        if time.monotonic() - self._since > 2 * self._patience:  # HealthMonitor reports an unavailable vLLM earlier
            raise UnavailableError(f"vLLM is up but returns no sample: {what}")
        await asyncio.sleep(self._delay)
        self._delay = min(self._delay * 1.5, MOST_DELAY)


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
