"""Quotas of API keys."""

from __future__ import annotations

import math

import pytest

from sandbox_service.bounds.api_keys import KeyTerms
from sandbox_service.errors import OverQuotaError
from sandbox_service.queues.observers import GradedEvent
from sandbox_service.queues.quotas import Quotas, Usage
from tests.fakes import made
from tests.queues.world import World
from tests.queues.worlds import play

TERMS = {"alice": KeyTerms("team-a", submissions=3.0), "bob": KeyTerms("", slot_seconds=1.0)}


def quotas(world: World) -> Quotas:
    """The queue's."""
    return world.queue.quotas  # type: ignore[attr-defined,no-any-return]


def test_a_key_is_refused_after_its_quota_and_others_are_not(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in ("1", "2", "3"):
            await world.grade(made(name, key="alice"))
        with pytest.raises(OverQuotaError, match="key team-a has used up its quota of 3 submissions a minute") as error:
            await world.grade(made("4", key="alice"))
        assert 1 <= error.value.retry_after_seconds <= 20
        assert (await world.grade(made("5", key="bob"))).verdict == "AC"
        assert (await world.grade(made("6"))).verdict == "AC"
        assert quotas(world).refused == {"alice": 1}
        with pytest.raises(OverQuotaError):
            await world.grade(made("4", key="alice"))  # as a foreign route does that holds a request
        assert quotas(world).refused == {"alice": 1}
        with pytest.raises(OverQuotaError):
            await world.grade(made("7", key="alice"))
        assert quotas(world).refused == {"alice": 2}

    play(kind, scenario, terms=TERMS)


def test_a_batch_above_the_quota_is_taken_whole_and_is_paid_later(kind: str) -> None:
    async def scenario(world: World) -> None:
        for ticket in await world.submit(*(made(str(name), key="alice") for name in range(9))):
            await world.answer(ticket)
        with pytest.raises(OverQuotaError) as error:
            await world.grade(made("more", key="alice"))
        assert 130 <= error.value.retry_after_seconds <= 141

    play(kind, scenario, terms=TERMS)


def test_what_was_answered_before_costs_nothing(kind: str) -> None:
    async def scenario(world: World) -> None:
        for _ in range(8):
            assert (await world.grade(made("same", key="alice"))).verdict == "AC"
        assert (await world.grade(made("new", key="alice"))).verdict == "AC"

    play(kind, scenario, terms=TERMS)


def test_what_was_answered_before_is_answered_again_over_the_quota(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in ("1", "2", "3"):
            await world.grade(made(name, key="alice"))
        with pytest.raises(OverQuotaError):
            await world.grade(made("4", key="alice"))
        for name in ("1", "2", "3"):
            assert (await world.grade(made(name, key="alice"))).verdict == "AC"
        with pytest.raises(OverQuotaError):
            await world.submit(made("1", key="alice"), made("5", key="alice"))
        assert quotas(world).refused == {"alice": 2}

    play(kind, scenario, terms=TERMS)


def test_time_in_slots_is_charged_when_it_is_known(kind: str) -> None:
    async def scenario(world: World) -> None:
        job = made("a", key="bob")
        ticket = await world.take(job)
        answer = await world.raw(ticket)
        slow = answer.under(answer.head | {"timing": {"queued_seconds": 0.0, "graded_seconds": 1.5}})
        quotas(world).graded(GradedEvent(job, slow, 0.0, 0.0))
        with pytest.raises(OverQuotaError, match="key bob has used up its quota of 1 slot_seconds a minute") as error:
            await world.take(made("b", key="bob"))
        assert error.value.retry_after_seconds <= 30

    play(kind, scenario, terms=TERMS)


def test_levels_fall_with_time(kind: str) -> None:
    async def scenario(world: World) -> None:
        charge, quota = quotas(world)._levels.charge, Usage(60_000.0, math.inf)
        level = await charge("carol", Usage(60_010.0, 0.0), quota)
        assert 60_000 <= level.submissions <= 60_010
        while level.submissions >= 60_000:  # for 10 ms
            level = await charge("carol", Usage(), quota)
        assert level.slot_seconds == 0

    play(kind, scenario)
