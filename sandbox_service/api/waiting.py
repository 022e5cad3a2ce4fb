"""Waiting for an answer while its client is there."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from fastapi import Request

T = TypeVar("T")


async def unless_gone(request: Request, answer: asyncio.Future[T]) -> T | None:
    """The answer; None if the client goes away first. The request's body must have been read."""
    gone: asyncio.Future[None] = asyncio.ensure_future(_until_gone(request))
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None
    finally:
        gone.cancel()


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
