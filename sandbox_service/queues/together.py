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
    """What one of them asks for."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.ids = {entry.id for entry in entries}
        self.bytes = sum(len(entry.body) for entry in entries)
        self.taken: asyncio.Future[list[Taken]] = asyncio.get_running_loop().create_future()

    def take(self, taken: list[Taken]) -> None:
        """It has come to this; if nobody waits for it any more, to nothing."""
        if not self.taken.done():
            self.taken.set_result(taken)

    def fail(self, error: Exception) -> None:
        """It has failed."""
        if not self.taken.done():
            self.taken.set_exception(error)


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
        return await request.taken

    async def _send(self) -> None:
        try:
            while requests := self._next():
                await self._share(requests)
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
            if not first.taken.done():
                requests.append(first)
                ids |= first.ids
        return requests

    async def _share(self, requests: Sequence[_Request]) -> None:
        try:
            taken = iter(await self._submit([entry for request in requests for entry in request.entries]))
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            if len(requests) > 1 and isinstance(error, ProctorError):
                await asyncio.gather(*(self._share([request]) for request in requests))
                return
            for request in requests:
                request.fail(error)
        else:
            for request in requests:
                request.take([next(taken) for _ in request.entries])
