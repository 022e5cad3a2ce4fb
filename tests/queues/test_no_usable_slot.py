"""What the local queue does while no slot can grade: refuse soon, hold what it has taken for a while, then say so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from sandbox_service.errors import Unavailable
from sandbox_service.queues import local
from sandbox_service.queues.local import LocalQueue
from sandbox_service.schema import Submission


class FakeSlot:
    """A slot that is what the test says it is."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.ready = self.free = False
        self.failed_since: float | None = None
        self.reason = "starting"

    def fail(self, seconds_ago: float = 0.0) -> None:
        self.failed_since, self.reason = time.monotonic() - seconds_ago, "firejail did not jail"

    async def close(self) -> None:
        """Nothing to end."""


def run(scenario: Callable[[LocalQueue, list[FakeSlot]], Any]) -> None:
    """A queue with two fake slots, in an event loop."""

    async def body() -> None:
        slots: list[FakeSlot] = []

        def make(index: int, _: object) -> Any:
            slots.append(FakeSlot(index))
            return slots[-1]

        queue = LocalQueue(make, 2, 100, 1 << 20)
        await scenario(queue, slots)
        await queue.close()

    asyncio.run(body())


def submission(name: str) -> Submission:
    return Submission.model_validate({"id": name, "code": "", "tests": [{"type": "stdin", "output": ""}]})


def test_while_slots_start_submissions_are_taken() -> None:
    async def scenario(queue: LocalQueue, slots: list[FakeSlot]) -> None:
        slots[0].fail()
        queue.submit(submission("a"))
        assert queue.depth() == 1

    run(scenario)


def test_when_all_have_failed_they_are_refused_with_the_reasons() -> None:
    async def scenario(queue: LocalQueue, slots: list[FakeSlot]) -> None:
        for slot in slots:
            slot.fail()
        with pytest.raises(Unavailable, match="slot 0: firejail did not jail; slot 1: firejail did not jail"):
            queue.submit(submission("a"))
        assert queue.depth() == 0

    run(scenario)


def test_what_was_taken_is_held_for_a_while_and_then_given_back() -> None:
    async def scenario(queue: LocalQueue, slots: list[FakeSlot]) -> None:
        queue.submit(submission("a"))
        waiting = asyncio.ensure_future(queue.wait("a"))
        for slot in slots:
            slot.fail()
        queue.slot_failed()
        await asyncio.sleep(0)
        assert not waiting.done()
        for slot in slots:
            slot.fail(local.HOLD_SECONDS + 1)
        queue.slot_failed()
        with pytest.raises(Unavailable, match="nothing can be graded"):
            await waiting
        assert queue.depth() == 0

    run(scenario)


def test_one_slot_that_works_is_enough() -> None:
    async def scenario(queue: LocalQueue, slots: list[FakeSlot]) -> None:
        queue.submit(submission("a"))
        slots[0].fail(local.HOLD_SECONDS + 1)
        queue.slot_failed()
        queue.submit(submission("b"))
        assert queue.depth() == 2

    run(scenario)
