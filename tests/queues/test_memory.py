"""An id that Redis does not have is unknown only if Redis has not lost data lately."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from redis import Redis

from sandbox_service import bootstrap
from sandbox_service.bounds import Bounds
from sandbox_service.errors import UnavailableError
from sandbox_service.fleet import queue
from sandbox_service.fleet.queue import FleetQueue
from sandbox_service.fleet.wakeup import JobEnqueuer
from sandbox_service.schema import Verdict
from sandbox_service.settings import Settings
from tests.fakes import hold, made
from tests.guards import HANG_GUARD_SECONDS
from tests.queues.fleet_world import Fleet, running_fleet
from tests.queues.world import Setup


def play(scenario: Callable[[Fleet, FleetQueue], Awaitable[None]]) -> None:
    """Run a scenario with two API processes' queues."""

    async def run() -> None:
        async with running_fleet(Setup(hold)) as fleet, bootstrap.ledger(Settings(redis_url=fleet.redis.url)) as ledger:
            other = FleetQueue(ledger, JobEnqueuer(fleet.redis.url, "proctor"), Bounds(1000, 1 << 30, 1e6))
            await other.start()
            try:
                await asyncio.wait_for(scenario(fleet, other), HANG_GUARD_SECONDS)
            finally:
                await other.close()

    asyncio.run(run())


def test_what_nobody_has_taken_is_unknown() -> None:
    async def scenario(_: Fleet, other: FleetQueue) -> None:
        assert await other.find("nobody's") is None

    play(scenario)


def test_after_redis_was_emptied_the_other_process_does_not_say_that_a_pending_one_is_unknown() -> None:
    async def scenario(fleet: Fleet, other: FleetQueue) -> None:
        ticket = await fleet.world.take(made("a"))
        await fleet.world.until_held("a")
        with Redis.from_url(fleet.redis.url) as redis:
            redis.flushall()
        refusals = 0
        while True:
            try:
                found = await other.find("a")
            except UnavailableError:
                refusals += 1
                await asyncio.sleep(0.05)
            else:
                break
        assert found is not None
        assert refusals > 0
        await fleet.world.until_held("a")
        fleet.world.finish("a")
        assert (await fleet.world.answer(ticket)).verdict == Verdict.AC
        assert (await fleet.world.answer(found)).verdict == Verdict.AC

    play(scenario)


def test_after_a_while_what_is_not_known_is_unknown_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "RECALL_SECONDS", 1.0)

    async def scenario(fleet: Fleet, other: FleetQueue) -> None:
        with Redis.from_url(fleet.redis.url) as redis:
            redis.flushall()
        with pytest.raises(UnavailableError):
            await other.find("nobody's")
        await asyncio.sleep(1.1)
        assert await other.find("nobody's") is None

    play(scenario)


def test_a_redis_that_was_started_again_may_have_lost_the_last_second() -> None:
    async def scenario(fleet: Fleet, other: FleetQueue) -> None:
        assert await other.find("nobody's") is None
        await asyncio.to_thread(fleet.redis.restart)
        with pytest.raises(UnavailableError):
            await other.find("nobody's")

    play(scenario)
