"""The last submissions and the figures of the last minutes, for the dashboard and `/v1/recent`.

An answer costs a few look-ups in its head, which the queue has parsed already. Programs, suites and results of tests
are parsed when they are requested. Each API process of a fleet has the history of its own answers, which ends with the
process; observe/shared_history.py adds those of the other processes while a page shows them.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence

from sandbox_service.grading.suites import Suite
from sandbox_service.observe.activity import Activity, Bucket, Pace
from sandbox_service.observe.events import EventBatcher
from sandbox_service.observe.records import Record, Records, record
from sandbox_service.queues.observers import GradedEvent

MOST_RECORDS = 20_000
MOST_BYTES = 64 << 20
MOST_FLIPS = 1000

Added = Callable[[Record, Suite], None]
Flipped = Callable[[str], None]


class History:
    """The history of one process. Each query reads all events first.

    Args:
        events: The events of the queue.
        most: The most submissions that are listed.
        most_bytes: The most bytes of programs, answers and suites.
    """

    def __init__(self, events: EventBatcher, most: int = MOST_RECORDS, most_bytes: int = MOST_BYTES) -> None:
        self.name = secrets.token_hex(4)  # part of every key: no other process has records under these keys
        self.closing = events.is_closing
        self.flips: Counter[str] = Counter()
        """Verdicts that a recheck did not confirm, by suite; see observe/recheck.py."""
        self.source: Callable[[], Awaitable[None]] | None = None
        """Adds the records of other processes, with `add`."""
        self._flush = events.flush
        self._records = Records(most, most_bytes)
        self._number = 0
        self._activity = Activity()
        self._listeners: list[Added] = []
        self._flip_listeners: list[Flipped] = []
        events.subscribe(self._read)

    def flush(self) -> None:
        """Read all events that are unread."""
        self._flush()

    async def refresh(self) -> None:
        """Add the answers of other processes, where they are asked; see `source`."""
        if self.source is not None:
            await self.source()

    # --- queries

    @property
    def last(self) -> int:
        """Return the number of the last record; 0 if there is none."""
        self._flush()
        return self._number

    def records(self) -> Iterator[Record]:
        """Iterate over all records, the last one first."""
        self._flush()
        return self._records.latest_first()

    def unordered(self) -> Iterator[Record]:
        """Iterate over all records, in any order."""
        self._flush()
        return self._records.unordered()

    def find(self, key: str) -> Record | None:
        """Return the record of a key; None if it is not kept here."""
        self._flush()
        return self._records.find(key)

    def suite(self, suite_id: str) -> bytes | None:
        """Return the bytes of a record's suite; None if they were too large to be kept."""
        return self._records.suite(suite_id)

    def buckets(self, since: float) -> Iterator[Bucket]:
        """Return the buckets that are not empty and ended after `since`, Unix time, in order."""
        self._flush()
        return self._activity.buckets(since)

    def slowest(self, count: int) -> list[Pace]:
        """Return the `count` suites, of the last ones, whose submissions take longest on average."""
        self._flush()
        return self._activity.slowest(count)

    def faults(self) -> dict[str, int]:
        """Return how many submissions had no verdict since the start, by failure kind."""
        self._flush()
        return self._activity.faults()

    # --- events

    def listen(self, added: Added, flipped: Flipped) -> None:
        """Call `added` with every later record of this process and its suite, `flipped` with the suite of each flip."""
        self._listeners.append(added)
        self._flip_listeners.append(flipped)

    def add(self, foreign: Record, suite: Suite) -> None:
        """Add the record of another process, under a number of this one.

        Args:
            foreign: The record.
            suite: Its tests.
        """
        if self._records.find(foreign.key) is None:
            self._number += 1
            foreign.number = self._number
            self._records.add(foreign, suite)

    def flipped(self, suite_id: str) -> None:
        """Note that a recheck of this process had another verdict.

        Args:
            suite_id: The suite of the submission.
        """
        self.add_flip(suite_id)
        for listener in self._flip_listeners:
            listener(suite_id)

    def add_flip(self, suite_id: str) -> None:
        """Count a flip of this process or of another one.

        Args:
            suite_id: The suite of the submission.
        """
        if suite_id in self.flips or len(self.flips) < MOST_FLIPS:
            self.flips[suite_id] += 1

    def _read(self, events: Sequence[GradedEvent]) -> None:
        self._activity.note(events)
        for job, answer, when, _ in events:
            self._number += 1
            new = record(f"{self.name}-{self._number}", self._number, when, job, answer)
            self._records.add(new, job.suite)
            for listener in self._listeners:
                listener(new, job.suite)
