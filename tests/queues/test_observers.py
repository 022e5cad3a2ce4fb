"""The observers of a queue: one that fails harms neither the queue nor the others."""

from __future__ import annotations

import asyncio
from typing import Any

from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.observe.events import MOST_UNREAD, EventBatcher
from sandbox_service.queues.observers import GradedEvent, Observers
from tests.pages.world import grade, job


class Recorder:
    """Records the ids of events; fails at one of them."""

    def __init__(self, fails_at: str = "") -> None:
        self.seen: list[str] = []
        self._fails_at = fails_at

    def graded(self, event: GradedEvent) -> None:
        self.seen.append(event.job.id)
        if event.job.id == self._fails_at:
            raise ZeroDivisionError(event.job.id)

    def closing(self) -> None:
        """See QueueObserver."""


def test_a_failing_observer_ends_neither_the_caller_nor_the_events_of_others() -> None:
    async def scenario() -> None:
        reported: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
        first, failing, last = Recorder(), Recorder(fails_at="b"), Recorder()
        observers = Observers()
        for each in (first, failing, last):
            observers.add(each)
        answer = EncodedGrade(grade("any").model_dump_json().encode())
        for name in "abc":
            observers.answered([(job(name), 0.0)], answer)
        assert first.seen == [], "the caller's own call publishes nothing"
        for _ in range(3):
            await asyncio.sleep(0)
        assert first.seen == failing.seen == ["a", "b", "c"]
        assert last.seen == ["a", "c"], "the event in which another observer failed is the only one that is missing"
        assert [type(each["exception"]) for each in reported] == [ZeroDivisionError]

    asyncio.run(scenario())


class Collector:
    """Keeps the ids of events; is full at one of them. Fails when it is flushed."""

    def __init__(self, full_at: str) -> None:
        self.seen: list[str] = []
        self.flushes = 0
        self._full_at = full_at

    def add(self, event: GradedEvent) -> bool:
        self.seen.append(event.job.id)
        return event.job.id == self._full_at

    def flush(self) -> None:
        self.flushes += 1
        raise ZeroDivisionError

    def closing(self) -> None:
        self.seen.append("closing")


def test_a_collector_has_each_event_at_once_and_is_flushed_later() -> None:
    async def scenario() -> None:
        reported: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
        collector, observers = Collector(full_at="b"), Observers()
        observers.collect(collector)
        answer = EncodedGrade(grade("any").model_dump_json().encode())
        observers.answered([(job("a"), 0.0), (job("b"), 0.0)], answer)
        assert (collector.seen, collector.flushes) == (["a", "b"], 0), "the caller's own call reads nothing"
        await asyncio.sleep(0)
        assert collector.flushes == 1
        assert [type(each["exception"]) for each in reported] == [ZeroDivisionError]
        observers.closing()
        assert collector.seen == ["a", "b", "closing"]

    asyncio.run(scenario())


def test_a_batcher_asks_once_to_be_flushed() -> None:
    events, answer = EventBatcher(), EncodedGrade(grade("any").model_dump_json().encode())
    read: list[int] = []
    events.subscribe(lambda batch: read.append(len(batch)))
    asked = [events.add(GradedEvent(job("a"), answer, 0.0, 0.0)) for _ in range(MOST_UNREAD + 5)]
    assert asked == [False] * (MOST_UNREAD - 1) + [True] + [False] * 5
    events.flush()
    assert read == [MOST_UNREAD + 5]
    assert not events.add(GradedEvent(job("a"), answer, 0.0, 0.0))
