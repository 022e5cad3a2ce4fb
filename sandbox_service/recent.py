"""What passed through the queue of late, for people who look: the last submissions, and figures of the last minutes.

Of each verdict the last few are kept, so that a rare one is not pushed out by the many; all within a bound in bytes.
It is what one API process has answered: in a fleet every one has its own, and none of it outlives the process.

While nobody looks, an answer costs a few dictionary look-ups in its head, which the queue has read already. Nothing is
rendered, and no program, suite or test's result is parsed, before somebody asks for it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from sandbox_service.answers import Answer
from sandbox_service.journal import Journal, Passed
from sandbox_service.queues.base import Job, JobQueue, Ticket
from sandbox_service.queues.wrapper import Wrapper
from sandbox_service.schema import Verdict
from sandbox_service.suites import Suite

MOST_OF_A_VERDICT = 50
MOST_BYTES = 16 << 20
LARGE_BYTES = 1 << 20  # a program, a suite or an answer beyond this is not kept, but that it was there is
OWN_BYTES = 1024  # of an entry, with its id and labels
BUCKET_SECONDS = 5
BUCKETS = 180  # a quarter of an hour
MOST_SUITES = 512


class RecordedQueue(Wrapper):
    """A queue that remembers what passed through it: for its journal's readers all, and some of it in its book.

    `closing` is set when it takes nothing more.
    """

    def __init__(self, queue: JobQueue) -> None:
        super().__init__(queue)
        self.journal = Journal()
        self.book = Book(self.journal)
        self.closing = asyncio.Event()

    async def submit(self, jobs: Sequence[Job]) -> list[Ticket]:
        """See JobQueue; the answers are noted."""
        began = time.monotonic()
        tickets = await super().submit(jobs)
        for job, ticket in zip(jobs, tickets, strict=True):
            ticket.answer.add_done_callback(partial(self._note, job, began))
        return tickets

    def _note(self, job: Job, began: float, answer: asyncio.Future[Answer]) -> None:
        if not answer.cancelled() and answer.exception() is None:
            self.journal.note(Passed(job, answer.result(), time.time(), time.monotonic() - began))

    async def drain(self, seconds: float) -> None:
        """See JobQueue; who looks on is told to go."""
        self.closing.set()
        await super().drain(seconds)


@dataclass(slots=True)
class Entry:
    """An answered submission. `program`, the submission's JSON, and `answer`, the grade's, are empty if too large."""

    number: int
    when: float  # Unix time
    id: str
    client: str
    labels: dict[str, str]
    suite: str
    tests: int
    program: bytes
    answer: bytes
    size: int  # bytes that it takes, about, without its suite
    read: dict[str, Any] | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """Those of the grade that a list shows."""
        if self.read is None:
            self.read = _facts(Answer(self.answer).head)
        return self.read


@dataclass(slots=True)
class Bucket:
    """What was answered within a few seconds from `start`, Unix time."""

    start: int
    verdicts: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    queued_seconds: float = 0.0
    longest_queued_seconds: float = 0.0
    graded_seconds: float = 0.0


@dataclass(slots=True)
class Pace:
    """How long the submissions of a suite took: not those from the cache, which took nothing."""

    suite: str
    tests: int
    submissions: int = 0
    seconds: float = 0.0
    longest_seconds: float = 0.0


class Book:
    """What a journal has. Whoever asks is told of all of it."""

    def __init__(self, journal: Journal) -> None:
        self.name = secrets.token_hex(4)  # of this process's book: no other one has entries under its keys
        self._catch_up = journal.catch_up
        self._pages: dict[str, deque[Entry]] = {verdict.value: deque() for verdict in Verdict}
        self._faulty = self._pages[Verdict.IE]
        self._bytes = 0
        self._number = 0
        self._suites = _Suites()
        self._buckets: deque[Bucket] = deque(maxlen=BUCKETS)
        self._paces: OrderedDict[str, Pace] = OrderedDict()
        self._faults: Counter[str] = Counter()
        journal.read_by(self._read)

    # --- for who looks

    @property
    def last(self) -> int:
        """The number of the last entry; 0 if there is none."""
        self._catch_up()
        return self._number

    def entries(self) -> list[Entry]:
        """All that are kept, the last one first."""
        self._catch_up()
        return sorted(chain.from_iterable(self._pages.values()), key=lambda entry: entry.number, reverse=True)

    def find(self, key: str) -> Entry | None:
        """The entry of a key, if it is of this book and still in it."""
        return next((entry for entry in self.entries() if self.key(entry) == key), None)

    def key(self, entry: Entry) -> str:
        """What an entry is asked for by: an id may be used again, and means nothing to another process's book."""
        return f"{self.name}-{entry.number}"

    def suite(self, suite_id: str) -> bytes | None:
        """The bytes of an entry's suite, if they were small enough to be kept."""
        return self._suites.get(suite_id)

    def buckets(self, since: float) -> Iterator[Bucket]:
        """Those that are not empty and had not ended at a time, in order."""
        self._catch_up()
        return (bucket for bucket in self._buckets if bucket.start + BUCKET_SECONDS > since)

    def slowest(self, count: int) -> list[Pace]:
        """The suites whose submissions take longest, on average, of those used last."""
        self._catch_up()
        return sorted(self._paces.values(), key=lambda pace: pace.seconds / pace.submissions, reverse=True)[:count]

    def faults(self) -> dict[str, int]:
        """How many were not graded, by kind, since the beginning."""
        self._catch_up()
        return dict(self._faults)

    # --- keeping the book

    def _read(self, passed: Sequence[Passed]) -> None:
        for job, answer, when, _ in passed:
            head = answer.head
            self._count(head, when)
            self._time(job, head)
            self._keep(job, answer, when)

    def _count(self, head: dict[str, Any], when: float) -> None:
        bucket = self._bucket(when)
        bucket.verdicts[head["verdict"]] += 1
        bucket.cached += bool(head["grader"]["cached"])
        timing = head["timing"]
        queued = timing["queued_seconds"]
        bucket.graded_seconds += timing["graded_seconds"]
        bucket.queued_seconds += queued
        if queued > bucket.longest_queued_seconds:
            bucket.longest_queued_seconds = queued
        if head["failure_kind"]:
            self._faults[head["failure_kind"]] += 1

    def _bucket(self, when: float) -> Bucket:
        """The last one where the clock was put back."""
        start = int(when) // BUCKET_SECONDS * BUCKET_SECONDS
        if not self._buckets or self._buckets[-1].start < start:
            self._buckets.append(Bucket(start))
        return self._buckets[-1]

    def _time(self, job: Job, head: dict[str, Any]) -> None:
        if head["grader"]["cached"] or head["failure_kind"]:
            return
        suite, seconds = job.suite.id, head["timing"]["graded_seconds"]
        pace = self._paces.get(suite)
        if pace is None:
            pace = self._paces[suite] = Pace(suite, len(job.suite.tests))
            if len(self._paces) > MOST_SUITES:
                self._paces.popitem(last=False)
        else:
            self._paces.move_to_end(suite)
        pace.submissions += 1
        pace.seconds += seconds
        if seconds > pace.longest_seconds:
            pace.longest_seconds = seconds

    def _keep(self, job: Job, answer: Answer, when: float) -> None:
        self._number += 1
        suite, program, grade, facts = job.suite, job.body, answer.body, None
        if len(program) > LARGE_BYTES:
            program = b""
        if len(grade) > LARGE_BYTES:
            grade, facts = b"", _facts(answer.head)
        size = len(program) + len(grade) + OWN_BYTES
        entry = Entry(
            self._number, when, job.id, job.client, job.labels, suite.id, len(suite.tests), program, grade, size, facts
        )
        page = self._pages.get(answer.head["verdict"], self._faulty)
        page.append(entry)
        self._bytes += size
        self._suites.use(suite)
        if len(page) > MOST_OF_A_VERDICT:
            self._forget_first_of(page)
        while self._bytes + self._suites.bytes > MOST_BYTES:
            self._forget_first_of(max(self._pages.values(), key=len))

    def _forget_first_of(self, page: deque[Entry]) -> None:
        entry = page.popleft()
        self._bytes -= entry.size
        self._suites.leave(entry.suite)


class _Suites:
    """The bytes of the entries' suites, each once; of large ones only that they are used."""

    def __init__(self) -> None:
        self.bytes = 0
        self._bodies: dict[str, bytes] = {}
        self._uses: dict[str, int] = {}

    def use(self, suite: Suite) -> None:
        """One entry more refers to it."""
        uses = self._uses.get(suite.id, 0)
        self._uses[suite.id] = uses + 1
        if not uses and len(suite.body) <= LARGE_BYTES:
            self._bodies[suite.id] = suite.body
            self.bytes += len(suite.body)

    def leave(self, suite_id: str) -> None:
        """One entry less."""
        uses = self._uses[suite_id] = self._uses[suite_id] - 1
        if not uses:
            del self._uses[suite_id]
            self.bytes -= len(self._bodies.pop(suite_id, b""))

    def get(self, suite_id: str) -> bytes | None:
        """Its bytes."""
        return self._bodies.get(suite_id)


def _facts(head: dict[str, Any]) -> dict[str, Any]:
    timing, grader = head["timing"], head["grader"]
    return {
        "verdict": head["verdict"],
        "reward": head["reward"],
        "passed": head["passed"],
        "total": head["total"],
        "failure_kind": head["failure_kind"],
        "queued_seconds": timing["queued_seconds"],
        "graded_seconds": timing["graded_seconds"],
        "cached": grader["cached"],
        "language": grader["language"],
    }
