"""Batches the events of a queue, so that history and metrics read many at once.

Observers run in batches, for cache locality: one by one, between two sleeps of the process, each would miss the
processor's caches. A reader that needs up-to-date figures calls `flush` first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from sandbox_service.queues.observers import GradedEvent

MOST_UNREAD = 64
MOST_UNREAD_BYTES = 1 << 20

Reader = Callable[[Sequence[GradedEvent]], None]


class EventBatcher:
    """An `EventCollector` that keeps events until there are many, or until a reader asks.

    `is_closing` is set when the queue closes.
    """

    def __init__(self) -> None:
        self.is_closing = asyncio.Event()
        self._readers: list[Reader] = []
        self._unread: list[GradedEvent] = []
        self._bytes = 0
        self._is_full = False

    def subscribe(self, reader: Reader) -> None:
        """Pass every later event to a reader."""
        self._readers.append(reader)

    def add(self, event: GradedEvent) -> bool:
        """See EventCollector."""
        job, answer, _, _ = event
        self._unread.append(event)
        self._bytes += len(job.body) + job.own_bytes + len(answer.body)
        is_full = len(self._unread) >= MOST_UNREAD or self._bytes > MOST_UNREAD_BYTES
        must_flush, self._is_full = is_full and not self._is_full, is_full
        return must_flush

    def closing(self) -> None:
        """See EventCollector."""
        self.is_closing.set()

    def flush(self) -> None:
        """Pass all unread events to every reader."""
        unread, self._unread, self._bytes, self._is_full = self._unread, [], 0, False
        for reader in self._readers:
            reader(unread)
