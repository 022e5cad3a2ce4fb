"""Figures of a queue, and draining it."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_service.errors import UnavailableError
from sandbox_service.queues.estimate import FIRST_GUESS_SECONDS
from sandbox_service.schema import Verdict
from tests.fakes import (
    hold,
    made,
    until,
)
from tests.guards import HANG_GUARD_SECONDS
from tests.queues.world import World
from tests.queues.worlds import names, play

# --- what it says of itself


def test_it_says_how_much_waits_and_how_much_is_being_graded(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in names(5):
            await world.take(made(name))
        await world.until_held("0")
        await until(lambda: world.queue.depth().submissions == 5)
        await until(lambda: 4 - world.ahead <= world.queue.depth().waiting <= 4)
        depth = world.queue.depth()
        assert depth.bytes > 0
        assert depth.cpu_seconds == pytest.approx(5 * FIRST_GUESS_SECONDS, rel=0.01)
        await until(lambda: world.queue.depth().oldest_seconds > 0)

    play(kind, scenario, hold)


def test_it_says_who_grades(kind: str) -> None:
    async def scenario(world: World) -> None:
        await until(lambda: world.queue.languages() == ["Fake 1.0", "Fake 1.1"])
        [worker] = world.queue.workers()
        assert (worker.slots, worker.ready, worker.busy) == (2, 2, 0)
        assert worker.languages == ["Fake 1.0", "Fake 1.1"]
        await world.take(made("a"))
        await until(lambda: [each.busy for each in world.queue.workers()] == [1])

    play(kind, scenario, hold, slots=2)


# --- the end


def test_draining_finishes_what_was_taken_and_takes_nothing_more(kind: str) -> None:
    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await world.until_held("a")
        draining = asyncio.ensure_future(world.queue.drain(HANG_GUARD_SECONDS))
        await until(lambda: world.queue.unready() == ["closing"])
        with pytest.raises(UnavailableError):
            await world.take(made("b"))
        world.finish("a")
        await draining
        assert (await world.answer(ticket)).verdict == Verdict.AC
        assert world.given == ["a"]

    play(kind, scenario, hold)


def test_what_is_not_finished_in_time_is_told_to_go_elsewhere(kind: str) -> None:
    async def scenario(world: World) -> None:
        tickets = await world.submit(*map(made, names(5)))
        await world.queue.drain(0.05)
        for ticket in tickets:
            with pytest.raises(UnavailableError, match="elsewhere"):
                await world.answer(ticket)

    play(kind, scenario, hold)
