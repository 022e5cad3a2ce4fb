"""Ending what runs in the background of an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

AGAIN_SECONDS = 0.5


async def end(chores: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel them, and wait until they have ended.

    A library may take a cancellation for a connection that was lost, and go on; so it is told again.
    """
    left = set(chores)
    while left:
        for chore in left:
            chore.cancel()
        _, left = await asyncio.wait(left, timeout=AGAIN_SECONDS)
