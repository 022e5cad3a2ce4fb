"""Runs many small jobs with bounded concurrency. The first exception cancels the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """A TaskGroup that raises its first exception instead of an exception group."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def for_each(items: Iterable[T], work: Callable[[T], Awaitable[None]], at_once: int) -> None:
    """Run `work` for each item in order. Items are taken from the iterable as slots become free.

    Args:
        items: The items.
        work: The coroutine function.
        at_once: The most items at a time.
    """
    left = iter(items)

    async def some() -> None:
        for item in left:
            await work(item)

    async with task_group() as group:
        for _ in range(at_once):
            group.create_task(some())


class ClosableQueue(asyncio.Queue[T | None]):
    """A queue with an end."""

    def end(self) -> None:
        """Mark the end, after all items were put."""
        self.put_nowait(None)

    async def each(self, work: Callable[[T], Awaitable[None]], at_once: int) -> None:
        """Run `work` for each item until the end.

        Args:
            work: The coroutine function.
            at_once: The most items at a time.
        """

        async def some() -> None:
            while (item := await self.get()) is not None:
                await work(item)
            self.end()  # for the next consumer

        async with task_group() as group:
            for _ in range(at_once):
                group.create_task(some())
