"""The observers of a queue: one that fails harms neither the queue nor the others."""

from __future__ import annotations

import asyncio
from typing import Any

from sandbox_service.grading.encoded_grade import EncodedGrade
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
