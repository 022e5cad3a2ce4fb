"""The local queue while no slot can grade: it refuses new submissions, holds others for a while, then refuses them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sandbox_service.bounds import Bounds
from sandbox_service.errors import UnavailableError
from sandbox_service.queues import local
from sandbox_service.queues.local import LocalQueue
from sandbox_service.slots.process import SlotOwner
from tests.fakes import made
from tests.guards import HANG_GUARD_SECONDS

LONG = local.HOLD_SECONDS + 1


class UnusableSlot:
    """A slot that is starting, or has failed since when the test says."""

    def __init__(self, index: int, owner: SlotOwner) -> None:
        self.index = index
        self.ready = self.free = False
        self.failed_since: float | None = None
        self.reason = "starting"
        self._owner = owner

    def fail(self, seconds_ago: float = 0.0) -> None:
        """Say that it has not been able to grade for so long."""
        self.failed_since, self.reason = time.monotonic() - seconds_ago, "firejail did not jail"
        self._owner.slot_failed()

    async def close(self) -> None:
        """Nothing to end."""


Scenario = Callable[[LocalQueue, list[UnusableSlot]], Awaitable[None]]


def run(scenario: Scenario) -> None:
    """A queue with two slots that cannot grade, in an event loop."""

    async def body() -> None:
        slots: list[UnusableSlot] = []

        def make(index: int, owner: SlotOwner) -> Any:
            slots.append(UnusableSlot(index, owner))
            return slots[-1]

        queue = LocalQueue(make, 2, Bounds(100, 1 << 20, 1e6))
        await asyncio.wait_for(scenario(queue, slots), HANG_GUARD_SECONDS)
        await queue.close()

    asyncio.run(body())


def test_while_slots_start_submissions_are_taken() -> None:
    async def scenario(queue: LocalQueue, slots: list[UnusableSlot]) -> None:
        slots[0].fail()
        await queue.submit([made("a")])
        assert queue.depth().submissions == 1
        assert not queue.is_hopeless
        assert queue.unready() == ["slot 0: firejail did not jail", "slot 1: starting"]

    run(scenario)


def test_when_all_have_failed_they_are_refused_with_the_reasons() -> None:
    async def scenario(queue: LocalQueue, slots: list[UnusableSlot]) -> None:
        for slot in slots:
            slot.fail()
        with pytest.raises(UnavailableError, match="slot 0: firejail did not jail; slot 1: firejail did not jail"):
            await queue.submit([made("a"), made("b")])
        assert queue.depth().submissions == 0
        assert queue.is_hopeless

    run(scenario)


def test_what_was_taken_is_held_for_a_while_and_then_given_back() -> None:
    async def scenario(queue: LocalQueue, slots: list[UnusableSlot]) -> None:
        tickets = await queue.submit([made("a"), made("b")])
        for slot in slots:
            slot.fail()
        assert not any(ticket.answer.done() for ticket in tickets)
        for slot in slots:
            slot.fail(LONG)
        for ticket in tickets:
            with pytest.raises(UnavailableError, match="nothing can be graded: slot 0: firejail did not jail"):
                await ticket.answer
            ticket.release()
        assert queue.depth().submissions == 0

    run(scenario)


def test_what_is_kept_is_given_up_too_and_not_known_any_more() -> None:
    async def scenario(queue: LocalQueue, slots: list[UnusableSlot]) -> None:
        [ticket] = await queue.submit([made("a", keep=True)])
        ticket.release()
        for slot in slots:
            slot.fail(LONG)
        assert queue.depth().submissions == 0
        assert await queue.find("a") is None

    run(scenario)


def test_it_is_held_as_long_as_the_one_that_failed_last_may_come_back() -> None:
    async def scenario(queue: LocalQueue, slots: list[UnusableSlot]) -> None:
        [ticket] = await queue.submit([made("a")])
        slots[0].fail(LONG)
        slots[1].fail()
        assert not ticket.answer.done()
        assert queue.depth().submissions == 1

    run(scenario)


def test_one_slot_that_works_is_enough() -> None:
    async def scenario(queue: LocalQueue, slots: list[UnusableSlot]) -> None:
        await queue.submit([made("a")])
        slots[0].fail(LONG)
        await queue.submit([made("b")])
        assert queue.depth().submissions == 2

    run(scenario)
