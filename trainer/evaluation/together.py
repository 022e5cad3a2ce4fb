"""Many small jobs, some at a time: all of them are done, or the first trouble ends the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def tasks() -> AsyncIterator[asyncio.TaskGroup]:
    """A task group that raises its first trouble itself, and not a group of one."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as troubles:
        raise troubles.exceptions[0] from None


async def each(items: Iterable[T], work: Callable[[T], Awaitable[None]], at_once: int) -> None:
    """Do it for each, in their order, up to `at_once` at a time. Items are taken when there is room for them."""
    left = iter(items)

    async def some() -> None:
        for item in left:
            await work(item)

    async with tasks() as group:
        for _ in range(at_once):
            group.create_task(some())


class Feed(asyncio.Queue[T | None]):
    """Items that somebody makes and somebody else takes; `end` says that there will be no more."""

    def end(self) -> None:
        """Once, when all are in."""
        self.put_nowait(None)

    async def each(self, work: Callable[[T], Awaitable[None]], at_once: int) -> None:
        """Do it for each that comes, up to `at_once` at a time, until the end."""

        async def some() -> None:
            while (item := await self.get()) is not None:
                await work(item)
            self.end()  # for the next one who asks

        async with tasks() as group:
            for _ in range(at_once):
                group.create_task(some())
