"""Figures of the last minutes: verdicts and waiting times by the second, the time that suites take, faults, flips."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sandbox_service.queues.base import Job

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
    """The figures of one process. `note` takes each answer once, in order."""

    def __init__(self) -> None:
        self._buckets: deque[Bucket] = deque(maxlen=BUCKETS)
        self._paces: OrderedDict[str, Pace] = OrderedDict()
        self._faults: Counter[str] = Counter()

    def note(self, job: Job, head: dict[str, Any], when: float) -> None:
        """Count an answer.

        Args:
            job: The submission.
            head: The grade without its tests.
            when: Unix time of the answer.
        """
        self._count(head, when)
        if not head["grader"]["cached"] and not head["failure_kind"]:
            self._time(job, head["timing"]["graded_seconds"])

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
        """Return the bucket of a time; the last one if the clock was set back."""
        start = int(when) // BUCKET_SECONDS * BUCKET_SECONDS
        if not self._buckets or self._buckets[-1].start < start:
            self._buckets.append(Bucket(start))
        return self._buckets[-1]

    def _time(self, job: Job, seconds: float) -> None:
        suite = job.suite.id
        pace = self._paces.get(suite)
        if pace is None:
            pace = self._paces[suite] = Pace(suite, job.suite.count)
            if len(self._paces) > MOST_SUITES:
                self._paces.popitem(last=False)
        else:
            self._paces.move_to_end(suite)
        pace.submissions += 1
        pace.seconds += seconds
        if seconds > pace.longest_seconds:
            pace.longest_seconds = seconds
