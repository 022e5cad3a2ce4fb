"""Small helps for those who ask a server that may be gone: asking together, trying again, letting go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from trainer.errors import Away

T = TypeVar("T")

FIRST_DELAY, MOST_DELAY = 0.1, 3.0


class Shared(Generic[T]):
    """A question whose answer serves everybody who asked before it was put; one at a time is on its way."""

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
        """What is on its way is not waited for."""
        for task in filter(None, [self._now, self._next]):
            task.cancel()
            await asyncio.wait([task])


class Trouble:
    """What keeps one thing from being done: it may pass, but not for ever."""

    def __init__(self, patience_seconds: float) -> None:
        self._patience = patience_seconds
        self._since = 0.0
        self._delay = FIRST_DELAY

    def note(self, what: str) -> None:
        """Once more. Raises Away if it has gone on for too long."""
        self._since = self._since or time.monotonic()
        if time.monotonic() - self._since > 2 * self._patience:  # of a vLLM that is away, others tell before that
            raise Away(f"vLLM is there and makes no sample: {what}")

    async def rest(self) -> None:
        """A while, that grows."""
        await asyncio.sleep(self._delay)
        self._delay = min(self._delay * 1.5, MOST_DELAY)


@asynccontextmanager
async def let_go_of(*work: Any) -> AsyncIterator[list[asyncio.Task[Any]]]:
    """Tasks that end with the block."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
