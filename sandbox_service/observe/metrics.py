"""Prometheus metrics of a queue and of its answers. Queue, grader and sandbox do not depend on them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from sandbox_service.observe.events import EventBatcher
from sandbox_service.queues.base import JobQueue
from sandbox_service.queues.observers import GradedEvent

SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)  # a fork … the longest wall limit

# exported with 0 from the start: otherwise the first event of a kind is no increase
EVENTS = ("cached", "cancelled", "duplicates", "lost", "mended", "reaped", "refused", "requeued", "watchdog")


CLOCKS = {
    "queue": "Time from submission to slot in seconds",
    "grade": "Time in a slot in seconds",
    "answer": "Time from submission to answer in seconds",
}


class Metrics(Collector):
    """Metrics of the answers, from batched events; registers those of the queue, too."""

    def __init__(self, queue: JobQueue, events: EventBatcher, registry: CollectorRegistry) -> None:
        self._flush = events.flush
        self._answers = _Answers()
        events.subscribe(self._answers.count)
        registry.register(_State(queue))
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """See prometheus_client's Collector."""
        self._flush()
        return self._answers.collect()


class _Answers:
    """Counts of all answers. The counters of prometheus_client would double the cost of an answer."""

    def __init__(self) -> None:
        self._histograms: defaultdict[tuple[str, str], list[Histogram]] = defaultdict(
            lambda: [Histogram() for _ in CLOCKS]
        )
        self._faults: Counter[str] = Counter()
        self._tests: Counter[bytes] = Counter()
        self._retries = 0
        self._suspects = 0
        self._provoked = 0

    def count(self, events: Sequence[GradedEvent]) -> None:
        """Count a batch of events."""
        times: defaultdict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
        for _, answer, _, seconds in events:
            head = answer.head
            timing, grader = head["timing"], head["grader"]
            measured = timing["queued_seconds"], timing["graded_seconds"], seconds
            times[head["verdict"], grader["language"]].append(measured)
            if head.get("suspect"):
                self._suspects += 1
            if head.get("provoked"):
                self._provoked += 1
            if head["failure_kind"]:
                self._faults[head["failure_kind"]] += 1
            if grader["attempts"] > 1:
                self._retries += grader["attempts"] - 1
            for verdict, count in answer.tests.items():
                self._tests[verdict] += count
        for (kind, language), rows in times.items():
            clocks = self._histograms[kind, language.partition(" ")[0]]
            for clock, passed in zip(clocks, zip(*rows, strict=True), strict=True):
                clock.add(passed)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        for index, (name, text) in enumerate(CLOCKS.items()):
            clock = HistogramMetricFamily(f"proctor_{name}_seconds", text, labels=["verdict", "language"])
            for kind, clocks in self._histograms.items():
                clock.add_metric(kind, clocks[index].buckets(), clocks[index].sum)
            yield clock
        tests = {verdict.decode(): count for verdict, count in self._tests.items()}
        for name, text, label, counts in (
            ("faults", "Submissions without a verdict, by kind", "kind", self._faults),
            ("tests", "Tests run, by verdict", "verdict", tests),
        ):
            counter = CounterMetricFamily(f"proctor_{name}", text, labels=[label])
            for value, count in counts.items():
                counter.add_metric([value], count)
            yield counter
        yield CounterMetricFamily(
            "proctor_suspects", "Accepted submissions that failed an audit test", value=self._suspects
        )
        yield CounterMetricFamily(
            "proctor_provoked_judge_failures",
            "Submissions on whose output a judge failed that decides about others",
            value=self._provoked,
        )
        yield CounterMetricFamily("proctor_retries", "Attempts beyond each submission's first", value=self._retries)


class Histogram:
    """A histogram of seconds. `counts`: for each bound, how many are at most that and above the bound before."""

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)
        self.sum = 0.0

    def add(self, seconds: Iterable[float]) -> None:
        """Count values: many at once, since sorting them is faster than a search for the bucket of each.

        Args:
            seconds: The values, in any order.
        """
        ordered = sorted(seconds)
        self.sum += sum(ordered)
        before = 0
        for index, bound in enumerate(SECONDS):
            upto = bisect_right(ordered, bound)
            self.counts[index] += upto - before
            if upto == len(ordered):
                return
            before = upto
        self.counts[-1] += len(ordered) - before

    def buckets(self) -> list[tuple[str, float]]:
        """Return the cumulative counts by upper bound."""
        bounds = [*(str(float(each)) for each in SECONDS), "+Inf"]
        return list(zip(bounds, accumulate(self.counts), strict=True))


class _State(Collector):
    """Gauges of the queue, read at each scrape."""

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue

    def collect(self) -> Iterator[Metric]:
        depth, workers = self._queue.depth(), self._queue.workers()
        gauges = {
            "pending_submissions": ("Submissions waiting or being graded", depth.submissions),
            "waiting_submissions": ("Submissions that no slot or worker has yet", depth.waiting),
            "pending_cpu_seconds": ("Estimated CPU time of pending submissions in seconds", depth.cpu_seconds),
            "pending_bytes": ("Bytes of pending submissions", depth.bytes),
            "oldest_pending_seconds": ("Age of the oldest pending submission in seconds", depth.oldest_seconds),
            "workers": ("Machines that grade submissions", len(workers)),
            "slots": ("Grading processes", sum(worker.slots for worker in workers)),
            "slots_ready": ("Grading processes whose jails are proved", sum(worker.ready for worker in workers)),
            "slots_busy": ("Grading processes with a submission in hand", sum(worker.busy for worker in workers)),
            "ready": ("1 if something can be graded", int(not self._queue.unready())),
        }
        for name, (text, value) in gauges.items():
            yield GaugeMetricFamily(f"proctor_{name}", text, value=value)
        events = CounterMetricFamily(
            "proctor_events", "Events in the queue, by kind: cached, cancelled, requeued …", labels=["kind"]
        )
        for kind, count in sorted((dict.fromkeys(EVENTS, 0) | self._queue.counts()).items()):
            events.add_metric([kind], count)
        yield events
