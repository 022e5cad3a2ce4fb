"""Waits for an answer unless the client disconnects first."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from fastapi import Request

T = TypeVar("T")


async def wait_unless_disconnected(request: Request, answer: asyncio.Future[T]) -> T | None:
    """Return the answer, or None if the client disconnects first.

    Args:
        request: The request, whose body must have been read.
        answer: The future to wait for. It is not cancelled.
    """
    gone: asyncio.Future[None] = asyncio.ensure_future(_until_gone(request))
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None
    finally:
        gone.cancel()


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
