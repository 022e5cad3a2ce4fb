"""What Prometheus sees. Interfaces are wrapped; queue, grader and jails have never heard of it."""

from __future__ import annotations

import asyncio
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from sandbox_service.answers import Answer
from sandbox_service.queues.base import Job, JobQueue, Ticket
from sandbox_service.queues.wrapper import Wrapper

SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)  # a fork … the longest wall limit

# exported from the beginning, since the first of a kind is no increase where there was no nought before it
EVENTS = ("cached", "cancelled", "duplicates", "lost", "reaped", "refused", "requeued", "watchdog")


MOST_UNCOUNTED = 64


class MeteredQueue(Wrapper):
    """A queue that counts what passes through it: many at once, or when it is scraped.

    One by one, between two sleeps of the process, each would find nothing of what it needs in the processor's caches.
    """

    def __init__(self, queue: JobQueue, registry: CollectorRegistry) -> None:
        super().__init__(queue)
        self._uncounted: list[tuple[Answer, float]] = []
        self._kinds: dict[tuple[str, str], list[Histogram]] = {}
        registry.register(_State(queue, self._count_all))  # before what is counted, so that this is done first
        by = ["verdict", "language"]
        self._queued = Histogram("proctor_queue_seconds", "Wait for a slot", by, buckets=SECONDS, registry=registry)
        self._graded = Histogram("proctor_grade_seconds", "Time in a slot", by, buckets=SECONDS, registry=registry)
        self._total = Histogram(
            "proctor_answer_seconds", "From submission to answer", by, buckets=SECONDS, registry=registry
        )
        self._faults = Counter("proctor_faults", "Submissions without a verdict, by kind", ["kind"], registry=registry)
        self._tests = Counter("proctor_tests", "Tests run, by verdict", ["verdict"], registry=registry)
        self._retries = Counter("proctor_retries", "Attempts beyond each submission's first", registry=registry)

    async def submit(self, jobs: Sequence[Job]) -> list[Ticket]:
        """See JobQueue; the answers are counted."""
        began = asyncio.get_running_loop().time()
        tickets = await super().submit(jobs)
        for ticket in tickets:
            ticket.answer.add_done_callback(lambda answer: self._note(answer, began))
        return tickets

    def _note(self, answer: asyncio.Future[Answer], began: float) -> None:
        if answer.cancelled() or answer.exception() is not None:
            return
        self._uncounted.append((answer.result(), asyncio.get_running_loop().time() - began))
        if len(self._uncounted) >= MOST_UNCOUNTED:
            self._count_all()

    def _count_all(self) -> None:
        uncounted, self._uncounted = self._uncounted, []
        for answer, seconds in uncounted:
            self._count(answer.facts, seconds)

    def _count(self, facts: dict[str, Any], seconds: float) -> None:
        verdict, language = facts["verdict"], facts["grader"]["language"].partition(" ")[0]
        queued, graded, total = self._clocks(verdict, language)
        queued.observe(facts["timing"]["queued_seconds"])
        graded.observe(facts["timing"]["graded_seconds"])
        total.observe(seconds)
        if facts["failure_kind"]:
            self._faults.labels(facts["failure_kind"]).inc()
        self._retries.inc(max(0, facts["grader"]["attempts"] - 1))
        for tested, times in Tally(test["verdict"] for test in facts["tests"]).items():
            self._tests.labels(tested).inc(times)

    def _clocks(self, verdict: str, language: str) -> list[Histogram]:
        """The histograms of this kind of answer, which are long to find."""
        kind = (verdict, language)
        if kind not in self._kinds:
            self._kinds[kind] = [each.labels(*kind) for each in (self._queued, self._graded, self._total)]
        return self._kinds[kind]


class _State(Collector):
    """Read when it is scraped, so that no gauge can be forgotten."""

    def __init__(self, queue: JobQueue, count_all: Callable[[], None]) -> None:
        self._queue = queue
        self._count_all = count_all

    def collect(self) -> Iterator[Metric]:
        self._count_all()
        depth, workers = self._queue.depth(), self._queue.workers()
        gauges = {
            "pending_submissions": ("Submissions waiting or being graded", depth.submissions),
            "waiting_submissions": ("Submissions that no slot or worker has yet", depth.waiting),
            "pending_cpu_seconds": ("Estimated CPU time of what is pending", depth.cpu_seconds),
            "pending_bytes": ("Bytes of what is pending", depth.bytes),
            "oldest_pending_seconds": ("Age of the oldest that is not answered", depth.oldest_seconds),
            "workers": ("Machines that grade", len(workers)),
            "slots": ("Grading processes", sum(worker.slots for worker in workers)),
            "slots_ready": ("Grading processes whose jails are proved", sum(worker.ready for worker in workers)),
            "slots_busy": ("Grading processes with a submission in hand", sum(worker.busy for worker in workers)),
            "ready": ("1 if something can be graded", int(not self._queue.unready())),
        }
        for name, (text, value) in gauges.items():
            yield GaugeMetricFamily(f"proctor_{name}", text, value=value)
        events = CounterMetricFamily("proctor_events", "What happened in the queue, by kind", labels=["kind"])
        for kind, count in sorted((dict.fromkeys(EVENTS, 0) | self._queue.counts()).items()):
            events.add_metric([kind], count)
        yield events
