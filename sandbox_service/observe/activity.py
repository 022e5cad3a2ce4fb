"""Figures of the last minutes: verdicts and waiting times by the second, the time that suites take, faults, flips."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox_service.grading.suites import Suite
from sandbox_service.queues.observers import GradedEvent

BUCKET_SECONDS = 5
BUCKETS = 180  # a quarter of an hour
MOST_SUITES = 512


@dataclass(slots=True)
class Bucket:
    """Figures of the answers within `BUCKET_SECONDS` from `start`, Unix time."""

    start: int
    verdicts: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    queued_seconds: float = 0.0
    longest_queued_seconds: float = 0.0
    graded_seconds: float = 0.0


@dataclass(slots=True)
class Pace:
    """The times that the submissions of a suite took, without those from the cache."""

    suite: str
    tests: int
    submissions: int = 0
    seconds: float = 0.0
    longest_seconds: float = 0.0


class Activity:
    """The figures of one process. `note` takes each event once, in order."""

    def __init__(self) -> None:
        self._buckets: deque[Bucket] = deque(maxlen=BUCKETS)
        self._paces: OrderedDict[str, Pace] = OrderedDict()
        self._faults: Counter[str] = Counter()
        self._last = Bucket(-BUCKET_SECONDS)  # of the last answer
        self._pace = Pace("", 0)  # of the last answer

    def note(self, events: Sequence[GradedEvent]) -> None:
        """Count answers."""
        for job, answer, when, _ in events:
            head = answer.head
            self._count(head, when)
            if not head["grader"]["cached"] and not head["failure_kind"]:
                self._time(job.suite, head["timing"]["graded_seconds"])

    def buckets(self, since: float) -> Iterator[Bucket]:
        """Return the buckets that are not empty and ended after `since`, Unix time, in order."""
        return (bucket for bucket in self._buckets if bucket.start + BUCKET_SECONDS > since)

    def slowest(self, count: int) -> list[Pace]:
        """Return the `count` suites, of the last ones, whose submissions take longest on average."""
        return sorted(self._paces.values(), key=lambda pace: pace.seconds / pace.submissions, reverse=True)[:count]

    def faults(self) -> dict[str, int]:
        """Return how many submissions had no verdict since the start, by failure kind."""
        return dict(self._faults)

    def _count(self, head: dict[str, Any], when: float) -> None:
        bucket = self._last
        if not bucket.start <= when < bucket.start + BUCKET_SECONDS:
            bucket = self._bucket(when)
        bucket.verdicts[head["verdict"]] += 1
        if head["grader"]["cached"]:
            bucket.cached += 1
        timing = head["timing"]
        queued = timing["queued_seconds"]
        bucket.graded_seconds += timing["graded_seconds"]
        bucket.queued_seconds += queued
        if queued > bucket.longest_queued_seconds:
            bucket.longest_queued_seconds = queued
        if head["failure_kind"]:
            self._faults[head["failure_kind"]] += 1

    def _bucket(self, when: float) -> Bucket:
        """Return the bucket of a time; the last one if the clock was set back."""
        start = int(when) // BUCKET_SECONDS * BUCKET_SECONDS
        if not self._buckets or self._last.start < start:
            self._last = Bucket(start)
            self._buckets.append(self._last)
        return self._last

    def _pace_of(self, suite: Suite) -> Pace:
        """Return the figures of a suite, which becomes the last one."""
        pace = self._paces.get(suite.id)
        if pace is None:
            pace = self._paces[suite.id] = Pace(suite.id, suite.count)
            if len(self._paces) > MOST_SUITES:
                self._paces.popitem(last=False)
        else:
            self._paces.move_to_end(suite.id)
        return pace

    def _time(self, suite: Suite, seconds: float) -> None:
        pace = self._pace
        if pace.suite != suite.id:
            pace = self._pace = self._pace_of(suite)
        pace.submissions += 1
        pace.seconds += seconds
        if seconds > pace.longest_seconds:
            pace.longest_seconds = seconds
