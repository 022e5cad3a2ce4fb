"""A background task of the fleet's queue that ends by a defect: the queue refuses everything and says why."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from sandbox_service.errors import UnavailableError
from tests.fakes import hold_only, made, until
from tests.guards import HANG_GUARD_SECONDS
from tests.queues.fleet_world import Fleet, running_fleet
from tests.queues.world import Setup

PROMPTLY_SECONDS = 1.0  # less than the watchdog takes


class PlantedError(Exception):
    """Nothing that Redis would raise."""


async def _break_async(*_: object) -> None:
    raise PlantedError


def _break(*_: object) -> None:
    raise PlantedError


# what each background task, and no other, calls
BACKGROUND: dict[str, Callable[[Fleet, pytest.MonkeyPatch], None]] = {
    "listen": lambda fleet, patch: patch.setattr(fleet.ledger, "replies", _break_async),
    "call": lambda fleet, patch: patch.setattr(fleet.queue._waker._enqueuer, "enqueue_missing", _break),
    "tick": lambda fleet, patch: patch.setattr(fleet.ledger, "lead", _break_async),
}


async def meet_the_defect(fleet: Fleet, task: str, patch: pytest.MonkeyPatch) -> None:
    """Plant a defect, and submit something that makes every background task run."""
    BACKGROUND[task](fleet, patch)
    # in a task: it may have to wait for one that is being taken
    another = asyncio.create_task(fleet.world.grade(made("another")))
    another.add_done_callback(asyncio.Task.exception)
    await until(lambda: any("PlantedError" in reason for reason in fleet.queue.unready()))


def play(task: str, scenario: Callable[[Fleet, Callable[[], Awaitable[None]]], Awaitable[None]]) -> None:
    """Run a scenario in a loop of its own, in which "held" is not answered; it must come to its end."""

    async def run() -> None:
        with pytest.MonkeyPatch.context() as patch:
            async with running_fleet(Setup(hold_only("held"), slots=2)) as fleet:
                played = scenario(fleet, lambda: meet_the_defect(fleet, task, patch))
                await asyncio.wait_for(played, HANG_GUARD_SECONDS)

    asyncio.run(run())


@pytest.mark.parametrize("task", BACKGROUND)
def test_a_defect_is_loud_and_whoever_waits_or_comes_later_is_told(task: str, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(fleet: Fleet, defect: Callable[[], Awaitable[None]]) -> None:
        first = await fleet.world.take(made("held"))
        second = await fleet.queue.find("held")
        assert second is not None
        await fleet.world.until_held("held")
        await defect()
        async with asyncio.timeout(PROMPTLY_SECONDS):
            for ticket in (first, second):
                with pytest.raises(
                    UnavailableError, match=r"a defect of the service \(PlantedError\).*send it again elsewhere"
                ):
                    await fleet.world.answer(ticket)
            with pytest.raises(UnavailableError, match="a defect of the service"):
                await fleet.queue.submit([made("later")])
            with pytest.raises(UnavailableError, match="a defect of the service"):
                await fleet.queue.find("held")
        assert fleet.queue.unready() == ["a defect of the service (PlantedError); it is in the log"]
        assert await fleet.world.count() <= 2  # and what came later is not in the books

    play(task, scenario)
    [said] = [record for record in caplog.records if record.levelno == logging.CRITICAL]
    assert said.getMessage() == "internal_error"
    assert said.exc_info is not None
    assert said.exc_info[0] is PlantedError


def test_who_is_being_taken_when_a_chore_ends_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(fleet: Fleet, defect: Callable[[], Awaitable[None]]) -> None:
        taking, may_take, submit = asyncio.Event(), asyncio.Event(), fleet.ledger.submit

        async def slow(*arguments: object) -> object:
            taking.set()
            await may_take.wait()
            return await submit(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(fleet.ledger, "submit", slow)
        coming = asyncio.ensure_future(fleet.world.grade(made("held")))
        await taking.wait()
        monkeypatch.setattr(fleet.ledger, "submit", submit)
        await defect()
        may_take.set()
        async with asyncio.timeout(PROMPTLY_SECONDS):
            with pytest.raises(UnavailableError, match="a defect of the service"):
                await coming

    play("tick", scenario)


def test_that_redis_is_away_is_no_defect(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(fleet: Fleet, _: Callable[[], Awaitable[None]]) -> None:
        async def away(*_: object) -> None:
            raise ConnectionResetError("gone")

        ticket = await fleet.world.take(made("held"))
        await fleet.world.until_held("held")
        with monkeypatch.context() as patch:
            patch.setattr(fleet.ledger, "lead", away)
            await until(lambda: fleet.queue.unready() == ["Redis: gone"])
        await until(lambda: not fleet.queue.unready())
        fleet.world.finish("held")
        assert (await fleet.world.answer(ticket)).verdict == "AC"

    play("tick", scenario)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
