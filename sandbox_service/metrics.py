"""What Prometheus sees. Interfaces are wrapped; queue, grader and jails have never heard of it."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Grade, Submission

SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)  # a fork … the longest wall limit


class MeteredQueue:
    """A queue that counts what passes through it."""

    def __init__(self, queue: JobQueue, registry: CollectorRegistry) -> None:
        self._queue = queue
        self._grades = Counter("proctor_grades", "Submissions answered, by verdict", ["verdict"], registry=registry)
        self._faults = Counter("proctor_faults", "Submissions without a verdict, by kind", ["kind"], registry=registry)
        self._tests = Counter("proctor_tests", "Tests run, by verdict", ["verdict"], registry=registry)
        self._queued = Histogram("proctor_queue_seconds", "Wait for a slot", buckets=SECONDS, registry=registry)
        self._graded = Histogram("proctor_grade_seconds", "Time in a slot", buckets=SECONDS, registry=registry)
        registry.register(_State(queue))

    def submit(self, submission: Submission) -> None:
        """See JobQueue."""
        self._queue.submit(submission)

    async def wait(self, submission_id: str) -> Grade:
        """See JobQueue; the grade is counted."""
        grade = await self._queue.wait(submission_id)
        self._count(grade)
        return grade

    def _count(self, grade: Grade) -> None:
        self._grades.labels(grade.verdict).inc()
        if grade.failure_kind:
            self._faults.labels(grade.failure_kind).inc()
        for test in grade.tests:
            self._tests.labels(test.verdict).inc()
        self._queued.observe(grade.timing.queued_seconds)
        self._graded.observe(grade.timing.graded_seconds)

    def release(self, submission_id: str) -> None:
        """See JobQueue."""
        self._queue.release(submission_id)

    def room_for(self, submissions: int) -> None:
        """See JobQueue."""
        self._queue.room_for(submissions)

    def depth(self) -> int:
        """See JobQueue."""
        return self._queue.depth()

    def unready(self) -> list[str]:
        """See JobQueue."""
        return self._queue.unready()

    def languages(self) -> list[str]:
        """See JobQueue."""
        return self._queue.languages()

    async def drain(self, seconds: float) -> None:
        """See JobQueue."""
        await self._queue.drain(seconds)

    async def close(self) -> None:
        """See JobQueue."""
        await self._queue.close()


class _State(Collector):
    """Read when it is scraped, so that no gauge can be forgotten."""

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("proctor_pending", "Submissions waiting or being graded", value=self._queue.depth())
        yield GaugeMetricFamily("proctor_ready", "1 if something can be graded", value=not self._queue.unready())
