"""Several who submit at the same time share a call to the ledger: who comes while one is under way waits for the next.

A call costs as much as ten of what it carries. What one of them did wrong is not the others' trouble: if a call that
they share is refused, each makes its own.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from sandbox_service.errors import ProctorError
from sandbox_service.ledger.entries import Entry, Taken
from sandbox_service.ledger.ledger import MOST_ENTRIES

MOST_BYTES = 1 << 20  # with more, the call itself is what costs least

Submit = Callable[[Sequence[Entry]], Awaitable[list[Taken]]]


class _Request:
    """What one of them asks for, and its part in the call that it shares."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.ids = {entry.id for entry in entries}
        self.bytes = sum(len(entry.body) for entry in entries)
        self.begun: asyncio.Future[_Call] = asyncio.get_running_loop().create_future()


class _Call:
    """One call to the ledger for some requests."""

    def __init__(self, submit: Submit, requests: Sequence[_Request]) -> None:
        self.is_shared = len(requests) > 1
        self._requests = requests
        self._taken = asyncio.ensure_future(submit([entry for each in requests for entry in each.entries]))
        for each in requests:
            each.begun.set_result(self)

    async def over(self) -> None:
        """Until it is, however it ends."""
        await asyncio.wait([self._taken])

    async def of(self, request: _Request) -> list[Taken]:
        """What became of a request; the ledger's errors. To give up waiting is not to give up the call."""
        taken = await asyncio.shield(self._taken)
        before = self._requests[: self._requests.index(request)]
        start = sum(len(each.entries) for each in before)
        return taken[start : start + len(request.entries)]


class Together:
    """`submit` is the ledger's: all or none."""

    def __init__(self, submit: Submit) -> None:
        self._submit = submit
        self._waiting: deque[_Request] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def submit(self, entries: Sequence[Entry]) -> list[Taken]:
        """As the ledger's own, and with its errors."""
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
                await _Call(self._submit, requests).over()
        finally:
            self._sending = None

    def _next(self) -> list[_Request]:
        """Those that go in one script: none that was given up, no id twice, and not too much."""
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
