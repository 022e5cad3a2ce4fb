"""Tickets of those who wait for the same answer: each is let go once, and the last of them is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from sandbox_service.answers import Answer


class Awaited(Protocol):
    """What several may wait for."""

    waiters: int

    @property
    def id(self) -> str:
        """The submission's."""

    @property
    def answer(self) -> asyncio.Future[Answer]:
        """Theirs together."""


W = TypeVar("W", bound=Awaited)


class SharedTicket(Generic[W]):
    """See base.Ticket. `let_go` is told of each who no longer waits."""

    def __init__(self, awaited: W, let_go: Callable[[W], None]) -> None:
        self.id = awaited.id
        self.answer = awaited.answer
        self._let_go = let_go
        self._awaited: W | None = awaited
        awaited.waiters += 1

    def release(self) -> None:
        """See base.Ticket."""
        awaited, self._awaited = self._awaited, None
        if awaited is not None:
            awaited.waiters -= 1
            self._let_go(awaited)
