"""What runs in the background of an event loop: how it waits for something, but not for ever, and how it is ended."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

AGAIN_SECONDS = 0.5


async def within(seconds: float, event: asyncio.Event) -> None:
    """Wait for it, but not for longer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def end(chores: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel them, and wait until they have ended.

    A library may take a cancellation for a connection that was lost, and go on; so it is told again.
    """
    left = set(chores)
    while left:
        for chore in left:
            chore.cancel()
        _, left = await asyncio.wait(left, timeout=AGAIN_SECONDS)
