"""Observers of a queue: history, metrics and rechecks subscribe here to the submissions that were graded.

A queue holds an `Observers` and publishes to it. Observers are called in the event loop, one event at a time. A
collector only keeps events, for readers of many at once (see observe/events.py), and costs an answer no callback.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.queues.base import Job, Waiter

Watched: TypeAlias = list[tuple[Job, float]]
"""Jobs that share an answer, each with the time when it was submitted, monotonic seconds."""


class GradedEvent(NamedTuple):
    """A submission that was graded."""

    job: Job
    answer: EncodedGrade
    when: float
    """Unix time of the answer."""
    seconds: float
    """From the submission to the answer."""


class QueueObserver(Protocol):
    """Receives the events of a queue. Methods must return quickly and must not raise."""

    def graded(self, event: GradedEvent) -> None:
        """Handle one graded submission. Cached answers and faults are graded submissions too."""

    def closing(self) -> None:
        """Handle the end of intake. The queue may call this more than once."""


class EventCollector(Protocol):
    """Keeps the events of a queue, which passes them on at once."""

    def add(self, event: GradedEvent) -> bool:
        """Keep an event, and do nothing else that could fail. Return whether `flush` must be called soon."""

    def flush(self) -> None:
        """Read the events that were kept."""

    def closing(self) -> None:
        """See QueueObserver."""


class WatchedWaiter(Waiter, Protocol):
    """A waiter whose answer the queue publishes."""

    @property
    def watched(self) -> Watched:
        """Return the jobs for which the answer will be published."""


class Observers:
    """The subscribers of one queue."""

    def __init__(self) -> None:
        self._observers: list[QueueObserver] = []
        self._collectors: list[EventCollector] = []
        self._unpublished: deque[GradedEvent] = deque()

    def add(self, observer: QueueObserver) -> None:
        """Subscribe an observer to every later event."""
        self._observers.append(observer)

    def collect(self, collector: EventCollector) -> None:
        """Give every later event to a collector."""
        self._collectors.append(collector)

    def watch(self, jobs: Sequence[Job], waiters: Sequence[WatchedWaiter], began: float) -> None:
        """Publish a `GradedEvent` for each job when the queue calls `answered`, or now if it is answered already.

        Jobs that are `fresh` are rechecks and are not published. A submission that is cancelled or given up has no
        answer and no event.

        Args:
            jobs: the jobs of one call of `submit`.
            waiters: what `submit` returns for them, in the same order.
            began: when `submit` was called, monotonic seconds.
        """
        if self._observers or self._collectors:
            for job, waiter in zip(jobs, waiters, strict=True):
                if job.fresh:
                    continue
                answer = waiter.answer
                if not answer.done():
                    waiter.watched.append((job, began))
                elif not answer.cancelled() and answer.exception() is None:
                    self.answered([(job, began)], answer.result())

    def answered(self, watched: Watched, answer: EncodedGrade) -> None:
        """Publish an answer that has arrived.

        Observers and readers of collectors are called in the event loop's next round: the caller never sees one fail.

        Args:
            watched: the jobs that it answers, which were given to `watch`.
            answer: the answer.
        """
        if not watched:
            return
        when, now = time.time(), time.monotonic()
        for job, began in watched:
            event = GradedEvent(job, answer, when, now - began)
            for collector in self._collectors:
                if collector.add(event):
                    asyncio.get_running_loop().call_soon(collector.flush)
            if self._observers:
                self._publish_soon(event)

    def _publish_soon(self, event: GradedEvent) -> None:
        if not self._unpublished:
            asyncio.get_running_loop().call_soon(self._publish)
        self._unpublished.append(event)

    def _publish(self) -> None:
        """Publish the events in their order. If an observer fails, the event loop reports it and the rest follows."""
        try:
            while self._unpublished:
                event = self._unpublished.popleft()
                for observer in self._observers:
                    observer.graded(event)
        finally:
            if self._unpublished:
                asyncio.get_running_loop().call_soon(self._publish)

    def closing(self) -> None:
        """Tell every observer that the queue takes nothing more."""
        for observer in self._observers:
            observer.closing()
        for collector in self._collectors:
            collector.closing()
