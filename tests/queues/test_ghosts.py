"""Submissions that Redis says a worker holds and the worker does not: they are given back and graded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from redis.asyncio import Redis

from sandbox_service.fleet import ghosts, heartbeat
from sandbox_service.fleet.ledger.entries import Beat, Elsewhere, Exchanged, Finish, GiveBack, Need, Step
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.schema import Verdict
from tests.fakes import Script, always, hold, hold_only, made
from tests.guards import HANG_GUARD_SECONDS
from tests.queues.fleet_world import Fleet, running_fleet
from tests.queues.world import Setup

GHOST_SECONDS = 0.1
BEAT_SECONDS = 0.02
RIGHT = always("AC")


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ghosts, "GHOST_SECONDS", GHOST_SECONDS)
    monkeypatch.setattr(heartbeat, "beat_seconds", lambda _: BEAT_SECONDS)


def play(scenario: Callable[[Fleet], Awaitable[None]], script: Script = RIGHT) -> None:
    """Run a scenario in a loop of its own; it must come to its end."""

    async def run() -> None:
        async with running_fleet(Setup(script)) as fleet:
            await asyncio.wait_for(scenario(fleet), HANG_GUARD_SECONDS)

    asyncio.run(run())


async def only_worker(fleet: Fleet) -> str:
    [name] = await fleet.ledger.workers()
    return name


async def several_looks(fleet: Fleet) -> None:
    """So long that whatever could be taken for a ghost would have been given back."""
    await asyncio.sleep(4 * (GHOST_SECONDS + BEAT_SECONDS))


def test_what_was_claimed_and_never_handed_over_is_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(fleet: Fleet) -> None:
        exchange = fleet.ledger.exchange

        async def without_claim(name: str, steps: Sequence[Step] = (), *_: object, **__: object) -> Exchanged:
            return await exchange(name, steps, beat=Beat(0, 1, 0))

        name = await only_worker(fleet)
        with monkeypatch.context() as patch:
            patch.setattr(fleet.ledger, "exchange", without_claim)
            tickets = await fleet.world.submit(made("a"), made("b"))
            # as a crash between the claim and the hand-over does; only the last of these would be given again by itself
            async with Redis.from_url(fleet.redis.url) as redis:
                other = Ledger(redis)  # the patch is not on this one
                claimed = [(await other.claim(name, 1, 1, 1))[0] for _ in range(3)]
            assert [[claim.id for claim in claims] for claims in claimed] == [["a"], ["b"], []]
            assert sorted(await fleet.ledger.held(name)) == ["a", "b"]
        assert [(await fleet.world.answer(ticket)).verdict for ticket in tickets] == [Verdict.AC] * 2
        assert fleet.world.tally.begun == {"a": 1, "b": 1}
        assert await fleet.ledger.held(name) == []

    play(scenario)


def test_what_was_finished_and_forgotten_with_redis_disk_is_graded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(fleet: Fleet) -> None:
        lost: list[Step] = []
        ledger = fleet.ledger
        apply_steps, exchange = ledger.apply_steps, ledger.exchange

        def left(steps: Sequence[Step]) -> Sequence[Step]:
            if lost or not any(isinstance(step, Finish) for step in steps):
                return steps
            lost.extend(steps)
            return ()

        async def forgetful(name: str, steps: Sequence[Step]) -> list[str]:
            return await apply_steps(name, left(steps))

        async def forgetful_too(name: str, steps: Sequence[Step] = (), *more: Any, **named: Any) -> Exchanged:
            return await exchange(name, left(steps), *more, **named)

        monkeypatch.setattr(ledger, "apply_steps", forgetful)
        monkeypatch.setattr(ledger, "exchange", forgetful_too)
        assert (await fleet.world.grade(made("a"))).verdict == Verdict.AC
        assert fleet.world.tally.begun == {"a": 2}
        assert (await fleet.ledger.totals()).stats == {}

    play(scenario)


def test_what_a_slot_has_or_waits_for_one_is_no_ghost(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(fleet: Fleet) -> None:
        first = await fleet.world.take(made("a"))
        await fleet.world.until_held("a")
        others = await fleet.world.submit(*(made(f"{number}") for number in range(6)))
        given_back: list[Step] = []
        packed = fleet.ledger._packed

        def watched(name: str, steps: Sequence[Step]) -> Any:
            given_back.extend(step for step in steps if isinstance(step, GiveBack))
            return packed(name, steps)

        with monkeypatch.context() as patch:
            patch.setattr(fleet.ledger, "_packed", watched)
            while len(await fleet.ledger.held(await only_worker(fleet))) < 3:
                await asyncio.sleep(0.01)
            await several_looks(fleet)
            assert given_back == []
        fleet.world.finish("a")
        assert [(await fleet.world.answer(each)).verdict for each in (first, *others)] == [Verdict.AC] * 7
        assert set(fleet.world.tally.begun.values()) == {1}

    play(scenario, hold_only("a"))


def test_what_is_on_its_way_is_no_ghost(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is seen once, between the claim and the hand-over, and by the next look it is there."""

    async def scenario(fleet: Fleet) -> None:
        exchange, held = fleet.ledger.exchange, fleet.ledger.held
        looks = asyncio.Semaphore(0)

        async def slow(*arguments: Any, **named: Any) -> Exchanged:
            found = await exchange(*arguments, **named)
            if found.claims:
                await looks.acquire()
            # nothing else waits, so that a beat does not claim as well
            return found._replace(need=Need(0, 0, 0), others=Elsewhere(0, 3))

        async def seen(name: str) -> list[str]:
            found = await held(name)
            if found:
                looks.release()
            return found

        monkeypatch.setattr(fleet.ledger, "exchange", slow)
        monkeypatch.setattr(fleet.ledger, "held", seen)
        ticket = await fleet.world.take(made("a"))
        await fleet.world.until_held("a")
        await several_looks(fleet)
        fleet.world.finish("a")
        assert (await fleet.world.answer(ticket)).verdict == Verdict.AC
        assert fleet.world.tally.begun == {"a": 1}

    play(scenario, hold)
