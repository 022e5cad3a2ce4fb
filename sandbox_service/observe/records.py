"""The last submissions, within two bounds: how many are listed, and how many bytes of programs and answers are kept.

Beyond a bound, the oldest record of the most frequent verdict is dropped first, so that frequent verdicts do not
displace rare ones. A record whose program and answer are gone is still listed.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import chain
from operator import attrgetter
from sys import intern
from typing import Any

from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.grading.suites import Suite
from sandbox_service.queues.base import Job
from sandbox_service.schema import Verdict

LARGE_BYTES = 1 << 20  # a larger program, suite or answer is not kept, its record is
OWN_BYTES = 1024  # estimate of a record, with its id and labels
VERDICTS = frozenset(verdict.value for verdict in Verdict)


@dataclass(slots=True)
class Record:
    """An answered submission.

    `program`, the submission's JSON, and `answer`, the grade's, are empty if they were too large or are gone. `size` is
    what they and the record take, about, in bytes. `suspect`: accepted, and failed an audit test.
    """

    key: str
    number: int
    when: float  # Unix time
    id: str
    client: str
    labels: dict[str, str]
    suite: str
    tests: int
    verdict: str
    reward: float | None
    passed: int
    total: int
    failure_kind: str | None
    queued_seconds: float
    graded_seconds: float
    cached: bool
    language: str
    program: bytes
    answer: bytes
    suspect: bool = False

    @property
    def size(self) -> int:
        """Return about how many bytes the record takes, without its suite."""
        return len(self.program) + len(self.answer) + OWN_BYTES


def record(key: str, number: int, when: float, job: Job, answer: EncodedGrade) -> Record:
    """Return the record of an answered submission.

    Args:
        key: Names it in all processes of a fleet.
        number: Its place in the history.
        when: Unix time of the answer.
        job: The submission.
        answer: Its grade.
    """
    head: dict[str, Any] = answer.head
    timing, grader, kind = head["timing"], head["grader"], head["failure_kind"]
    return Record(
        key,
        number,
        when,
        job.id,
        job.client,
        job.labels,
        job.suite.id,
        job.suite.count,
        intern(head["verdict"]),
        head["reward"],
        head["passed"],
        head["total"],
        intern(kind) if kind else None,
        timing["queued_seconds"],
        timing["graded_seconds"],
        bool(grader["cached"]),
        intern(grader["language"]),
        job.body if len(job.body) <= LARGE_BYTES else b"",
        answer.body if len(answer.body) <= LARGE_BYTES else b"",
        bool(head.get("suspect")),
    )


class Records:
    """The records of a history, in the order of their numbers.

    Args:
        most: The most records.
        most_bytes: The most bytes of programs, answers and suites, with the records that have them. At least
            4 × LARGE_BYTES, so that the last record always fits.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._listed: defaultdict[str, deque[Record]] = defaultdict(deque)  # by verdict, those that have occurred
        self._whole: defaultdict[str, deque[Record]] = defaultdict(deque)
        self._by_key: dict[str, Record] = {}
        self._bytes = 0
        self._suites = _Suites()

    def __len__(self) -> int:
        return len(self._by_key)

    def add(self, new: Record, suite: Suite) -> None:
        """Add a record behind all others, and remove records beyond the bounds.

        Args:
            new: The record.
            suite: Its tests.
        """
        kind = self._kind(new)
        self._by_key[new.key] = new
        self._listed[kind].append(new)
        self._whole[kind].append(new)
        self._bytes += new.size
        self._suites.use(suite)
        while self._bytes + self._suites.bytes > self._most_bytes:
            self._strip_first()
        if len(self._by_key) > self._most:
            self._forget_first()

    def latest_first(self) -> Iterator[Record]:
        """Iterate over a copy of the records, the last answer first; those of one verdict as they were added."""
        copies = [list(records) for records in self._listed.values()]
        return merge(*map(reversed, copies), key=attrgetter("when", "number"), reverse=True)

    def unordered(self) -> Iterator[Record]:
        """Iterate over a copy of the records, by verdict."""
        return chain.from_iterable([list(records) for records in self._listed.values()])

    def find(self, key: str) -> Record | None:
        """Return the record of a key; None if it is not listed."""
        return self._by_key.get(key)

    def suite(self, suite_id: str) -> bytes | None:
        """Return the bytes of the suite of a record that has its program; None if they are not kept."""
        return self._suites.get(suite_id)

    def _kind(self, of: Record) -> str:
        """Return the verdict under which a record is listed; a newer version may have others."""
        return of.verdict if of.verdict in VERDICTS else Verdict.IE.value

    def _strip_first(self) -> None:
        """Drop the program and the answer of the oldest record of the most frequent verdict."""
        old = max(self._whole.values(), key=len).popleft()
        self._bytes -= old.size
        old.program = old.answer = b""
        self._suites.leave(old.suite)

    def _forget_first(self) -> None:
        old = max(self._listed.values(), key=len).popleft()
        del self._by_key[old.key]
        whole = self._whole[self._kind(old)]
        if whole and whole[0] is old:
            whole.popleft()
            self._bytes -= old.size
            self._suites.leave(old.suite)


class _Suites:
    """The bytes of the records' suites, each once. Of large suites only the uses are counted."""

    def __init__(self) -> None:
        self.bytes = 0
        self._bodies: dict[str, bytes] = {}
        self._uses: dict[str, int] = {}

    def use(self, suite: Suite) -> None:
        """Note a record that refers to a suite."""
        uses = self._uses.get(suite.id, 0)
        self._uses[suite.id] = uses + 1
        if not uses and len(suite.body) <= LARGE_BYTES:
            self._bodies[suite.id] = suite.body
            self.bytes += len(suite.body)

    def leave(self, suite_id: str) -> None:
        """Note that a record of a suite is gone."""
        uses = self._uses[suite_id] = self._uses[suite_id] - 1
        if not uses:
            del self._uses[suite_id]
            self.bytes -= len(self._bodies.pop(suite_id, b""))

    def get(self, suite_id: str) -> bytes | None:
        """Return the bytes of a suite; None if they are not kept."""
        return self._bodies.get(suite_id)
