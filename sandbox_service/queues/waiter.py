"""Waiters that share one answer. Each releases it once, and the queue can cancel it when none is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.queues.observers import Watched


class Awaited(Protocol):
    """A submission that several callers may wait for. `watched`: the jobs for which its answer is published."""

    waiters: int
    watched: Watched

    @property
    def id(self) -> str:
        """Return its id."""

    @property
    def answer(self) -> asyncio.Future[EncodedGrade]:
        """Return the answer that they share."""


W = TypeVar("W", bound=Awaited)


class SharedWaiter(Generic[W]):
    """See base.Waiter. `released` is called once when it is released."""

    __slots__ = ("_awaited", "_released", "answer", "id", "watched")

    def __init__(self, awaited: W, released: Callable[[W], None]) -> None:
        self.id = awaited.id
        self.answer = awaited.answer
        self.watched = awaited.watched
        self._released = released
        self._awaited: W | None = awaited
        awaited.waiters += 1

    def release(self) -> None:
        """See base.Waiter."""
        awaited, self._awaited = self._awaited, None
        if awaited is not None:
            awaited.waiters -= 1
            self._released(awaited)
