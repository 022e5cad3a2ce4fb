"""Plays the table of cases with both implementations of bounds and turns: in Python, and in Lua with a real Redis."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Protocol

import pytest
from redis.asyncio import Redis

from sandbox_service import bounds
from sandbox_service.errors import QueueFullError
from sandbox_service.fleet.ledger import entries
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.queues.backlog import Backlog, Load, Waiting
from tests.fleet.ledger.fleet import entry
from tests.queues.fairness_cases import CASES, SLOTS, Cancel, Case, Finish, GiveBack, Submit, Take
from tests.redis_server import RedisServer, running_redis


class Implementation(Protocol):
    """What a case is played with."""

    async def submit(self, step: Submit) -> None:
        """Raises QueueFullError."""

    async def take(self) -> str | None: ...

    async def give_back(self, name: str) -> None: ...

    async def finish(self, name: str) -> None: ...

    async def cancel(self, name: str) -> None: ...


class InPython:
    """The backlog of one process."""

    def __init__(self, case: Case) -> None:
        self._backlog = Backlog(case.bounds, SLOTS)

    async def submit(self, step: Submit) -> None:
        names = step.ids.split()
        self._backlog.check_room(step.client, Load(len(names), step.bytes * len(names), step.cpu_seconds * len(names)))
        for name in names:
            load = Load(1, step.bytes, step.cpu_seconds)
            self._backlog.add(Waiting(name, step.client, step.priority, load))

    async def take(self) -> str | None:
        return self._backlog.next()

    async def give_back(self, name: str) -> None:
        self._backlog.put_back(name)

    async def finish(self, name: str) -> None:
        self._backlog.remove(name)

    async def cancel(self, name: str) -> None:
        self._backlog.remove(name)


class InLua:
    """The scripts of the ledger."""

    def __init__(self, ledger: Ledger, case: Case) -> None:
        self._ledger = ledger
        self._bounds = case.bounds

    async def submit(self, step: Submit) -> None:
        cost = step.cpu_seconds
        items = [
            entry(name, bytes(step.bytes), client=step.client, priority=step.priority, cost=cost)
            for name in step.ids.split()
        ]
        await self._ledger.submit(items, "api", self._bounds)

    async def take(self) -> str | None:
        claims, _ = await self._ledger.claim("worker", 1, 1, SLOTS)
        return claims[0].id if claims else None

    async def give_back(self, name: str) -> None:
        assert await self._ledger.apply_steps("worker", [entries.GiveBack(name)]) == []

    async def finish(self, name: str) -> None:
        assert await self._ledger.apply_steps("worker", [entries.Finish(name, b"answer")]) == []

    async def cancel(self, name: str) -> None:
        await self._ledger.release("api", [name])


async def play(case: Case, queue: Implementation) -> None:
    for number, step in enumerate(case.steps):
        place = f"step {number}: {step}"
        match step:
            case Submit():
                await check_submit(step, queue, place)
            case Take(ids):
                assert " ".join([str(await queue.take() or "-") for _ in ids.split()]) == ids, place
            case GiveBack(name):
                await queue.give_back(name)
            case Finish(name):
                await queue.finish(name)
            case Cancel(name):
                await queue.cancel(name)


async def check_submit(step: Submit, queue: Implementation, place: str) -> None:
    refusal = await refusal_of(step, queue)
    assert str(refusal or "") == step.refused, place
    if refusal is not None:
        assert refusal.retry_after_seconds == pytest.approx(step.retry_seconds), place


async def refusal_of(step: Submit, queue: Implementation) -> QueueFullError | None:
    try:
        await queue.submit(step)
    except QueueFullError as refusal:
        return refusal
    return None


@pytest.fixture(scope="module")
def redis_server() -> Iterator[RedisServer]:
    with running_redis() as server:
        yield server


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_backlog_keeps_the_specification(case: Case) -> None:
    asyncio.run(play(case, InPython(case)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_scripts_keep_the_specification(case: Case, redis_server: RedisServer) -> None:
    async def run() -> None:
        async with Redis.from_url(redis_server.url) as redis:
            await redis.flushall()
            ledger = Ledger(redis, "test")
            await ledger.register("worker", {}, SLOTS)
            await play(case, InLua(ledger, case))

    asyncio.run(run())


def test_every_rule_of_the_specification_has_a_case() -> None:
    rules = re.findall(r"^(\d+)\. ", bounds.__doc__ or "", re.MULTILINE)
    assert len(rules) == 11
    assert {rule for case in CASES for rule in case.rules.split()} == set(rules)
