"""Coalesces concurrent submits into one ledger call: requests that arrive during a call share the next one.

A call costs as much as ten of the submissions that it carries. If a shared call is refused, each request is sent by
itself, so that it gets its own result.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from sandbox_service.errors import ProctorError
from sandbox_service.fleet.ledger.calls import MOST_ENTRIES
from sandbox_service.fleet.ledger.entries import Entry, Taken

MOST_BYTES = 1 << 20  # with more, the call itself is a small part of the cost

Submit = Callable[[Sequence[Entry]], Awaitable[list[Taken]]]


class _Request:
    """The entries of one `submit`, and the call that carries them."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.ids = {entry.id for entry in entries}
        self.bytes = sum(len(entry.body) for entry in entries)
        self.start = 0  # among the entries of the call
        self.begun: asyncio.Future[_Call] = asyncio.get_running_loop().create_future()


class _Call:
    """One call to the ledger for several requests."""

    def __init__(self, submit: Submit, requests: Sequence[_Request]) -> None:
        self.is_shared = len(requests) > 1
        entries: list[Entry] = []
        for each in requests:
            each.start = len(entries)
            entries += each.entries
            each.begun.set_result(self)
        self._taken = asyncio.ensure_future(submit(entries))

    async def wait(self) -> None:
        """Wait until the call has ended, with or without an error."""
        await asyncio.wait([self._taken])

    async def of(self, request: _Request) -> list[Taken]:
        """Return the part of a request. Raises the ledger's errors. Cancelling the wait does not cancel the call."""
        taken = await asyncio.shield(self._taken)
        return taken[request.start : request.start + len(request.entries)]


class Coalescer:
    """Shares calls of `submit`, which takes all entries or none."""

    def __init__(self, submit: Submit) -> None:
        self._submit = submit
        self._waiting: deque[_Request] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def submit(self, entries: Sequence[Entry]) -> list[Taken]:
        """Return the ledger's result for each entry. Raises the ledger's errors."""
        request = _Request(entries)
        self._waiting.append(request)
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        call = await request.begun
        try:
            return await call.of(request)
        except ProctorError:
            if not call.is_shared:
                raise
        return await self._submit(entries)

    async def _send(self) -> None:
        try:
            while requests := self._next():
                await _Call(self._submit, requests).wait()
        finally:
            self._sending = None

    def _next(self) -> list[_Request]:
        """Take the requests of the next call: not cancelled, without repeated ids, and within the sizes."""
        requests: list[_Request] = []
        ids: set[str] = set()
        size = 0
        while self._waiting:
            first = self._waiting[0]
            size += first.bytes
            is_much = len(ids) + len(first.ids) > MOST_ENTRIES or size > MOST_BYTES
            if requests and (is_much or not ids.isdisjoint(first.ids)):
                break
            self._waiting.popleft()
            if not first.begun.done():
                requests.append(first)
                ids |= first.ids
        return requests
