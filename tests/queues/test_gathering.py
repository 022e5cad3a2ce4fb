"""Batches of answers: the last answers are sent at once, however long the pause between batches is."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_service.fleet import replies, steps
from sandbox_service.schema import Verdict
from tests.fakes import always, made
from tests.guards import HANG_GUARD_SECONDS
from tests.queues.fleet_world import running_fleet
from tests.queues.world import Setup

FOR_EVER = 3600.0
MANY = 200


@pytest.mark.parametrize("slots", [1, 2])
def test_the_last_do_not_wait_for_others(monkeypatch: pytest.MonkeyPatch, slots: int) -> None:
    for module in (steps, replies):
        monkeypatch.setattr(module, "gathering_seconds", lambda *_: FOR_EVER)

    async def scenario() -> None:
        async with running_fleet(Setup(always("AC"), slots=slots)) as fleet:
            for round_ in range(2):
                tickets = await fleet.world.submit(*(made(f"{round_}.{each}") for each in range(MANY)))
                answers = [asyncio.shield(ticket.answer) for ticket in tickets]
                for answer in await asyncio.wait_for(asyncio.gather(*answers), HANG_GUARD_SECONDS):
                    assert answer.head["verdict"] == Verdict.AC

    asyncio.run(scenario())
