"""Waits for an answer unless the client disconnects first."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from fastapi import Request

from sandbox_service.api.connections import SCOPE_KEY, Connection

T = TypeVar("T")


async def wait_unless_disconnected(request: Request, answer: asyncio.Future[T]) -> T | None:
    """Return the answer, or None if the client disconnects first.

    Args:
        request: The request, whose body must have been read.
        answer: The future to wait for. It is not cancelled.
    """
    connection = request.scope.get(SCOPE_KEY)
    if isinstance(connection, Connection):
        await _answered_or_lost(connection, answer)
    else:
        await _answered_or_gone(request, answer)
    return answer.result() if answer.done() else None


async def _answered_or_lost(connection: Connection, answer: asyncio.Future[T]) -> None:
    """Wait with callbacks: a task that waits for the disconnection costs ten times as much."""
    if answer.done() or connection.is_lost:
        return
    either: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def end(_: object = None) -> None:
        if not either.done():
            either.set_result(None)

    answer.add_done_callback(end)
    connection.watch(end)
    try:
        await either
    finally:
        answer.remove_done_callback(end)
        connection.forget(end)


async def _answered_or_gone(request: Request, answer: asyncio.Future[T]) -> None:
    """Wait in a process for large requests, whose connections are of another class."""
    gone: asyncio.Future[None] = asyncio.ensure_future(_until_gone(request))
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
