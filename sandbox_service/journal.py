"""What was answered, for those who keep books of it: they read many at once, and whenever one of them is asked.

One by one, between two sleeps of the process, each would find nothing of what it needs in the processor's caches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sandbox_service.answers import Answer
from sandbox_service.queues.base import Job

MOST_UNREAD = 64
MOST_UNREAD_BYTES = 1 << 20


class Passed(NamedTuple):
    """A submission and its answer, at a Unix time, so many seconds after it was submitted."""

    job: Job
    answer: Answer
    when: float
    seconds: float


Reader = Callable[[Sequence[Passed]], None]


class Journal:
    """What was not yet read is kept, within bounds; what was read is not."""

    def __init__(self) -> None:
        self._readers: list[Reader] = []
        self._unread: list[Passed] = []
        self._bytes = 0

    def read_by(self, reader: Reader) -> None:
        """One more who reads all that is noted from now on."""
        self._readers.append(reader)

    def note(self, passed: Passed) -> None:
        """A submission was answered."""
        self._unread.append(passed)
        self._bytes += passed.job.size + len(passed.answer.body)
        if len(self._unread) >= MOST_UNREAD or self._bytes > MOST_UNREAD_BYTES:
            self.catch_up()

    def catch_up(self) -> None:
        """Have everything read."""
        unread, self._unread, self._bytes = self._unread, [], 0
        for reader in self._readers:
            reader(unread)
