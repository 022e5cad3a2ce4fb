"""Concurrent API processes, workers that die or freeze at any moment, and a reaper that dies as well."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest
from redis.asyncio import Redis

from sandbox_service.fleet.ledger.entries import Drop, Finish, GiveBack, Start, UnknownWorkerError
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.ledger.workers import REAPER
from tests.fleet.ledger.fleet import ROOMY, entry, ids, keys, residue

pytestmark = pytest.mark.anyio

APIS, WORKERS, BATCHES, PER_BATCH = 3, 6, 12, 40


class Fleet:
    """All that share the ledger, and what they saw."""

    def __init__(self, ledger: Ledger, seed: int) -> None:
        self.ledger = ledger
        self.random = random.Random(seed)
        self.names = 0
        self.answered: Counter[tuple[str, str]] = Counter()
        self.expected: set[tuple[str, str]] = set()
        self.released: set[tuple[str, str]] = set()
        self.done = asyncio.Event()

    async def pause(self) -> None:
        await asyncio.sleep(self.random.random() * 0.002)

    async def submits(self, api: str) -> None:
        """Submits batches, some ids of which others submit too, and gives up waiting for a few."""
        for batch in range(BATCHES):
            names = [f"{api if self.random.random() < 0.8 else 'all'}-{batch}-{number}" for number in range(PER_BATCH)]
            items = [entry(name, client=api, priority=self.random.randrange(3)) for name in dict.fromkeys(names)]
            taken, _ = await self.ledger.submit(items, api, ROOMY)
            waits = {each.id for each, what in zip(items, taken, strict=True) if what.state in ("new", "joined")}
            self.expected |= {(api, each) for each in waits}
            given_up = {each for each in waits if self.random.random() < 0.1}
            self.released |= {(api, each) for each in given_up}
            await self.pause()
            await self.ledger.release(api, sorted(given_up))

    async def reads(self, api: str) -> None:
        last = "0"
        while not self.done.is_set():
            for reply in await self.ledger.replies(api, last, 0.05):
                last = reply.stream_id
                assert reply.answer.startswith(reply.id.encode())
                self.answered[api, reply.id] += 1

    async def works(self) -> None:
        """One worker after another; each ends in one of the ways in which workers end."""
        while not self.done.is_set():
            self.names += 1
            name = f"w{self.names}"
            await self.ledger.register(name, {}, 4)
            held: list[str] = []
            for _ in range(self.random.randrange(1, 30)):
                await self.works_a_little(name, held)
            end = self.random.choice(("leaves", "dies", "freezes"))
            if end == "leaves":
                await self.ledger.leave(name)
            else:
                await self.ledger.apply_steps(name, [Start(each) for each in held[:2]])
                await self.reap(name)
            if end == "freezes":
                late = await self.ledger.apply_steps(name, [Finish(each, b"late") for each in held])
                assert late == held
                with pytest.raises(UnknownWorkerError):
                    await self.ledger.beat(name, 0, 0)

    async def works_a_little(self, name: str, held: list[str]) -> None:
        claims, _ = await self.ledger.claim(name, 16, 4, 4)
        told, *_ = await self.ledger.beat(name, len(held), 4)
        held += ids(claims)
        await self.pause()
        dropped = [each for each in held if each in told]
        turn = [each for each in held if each not in told and self.random.random() < 0.6]
        back = {each for each in turn if self.random.random() < 0.05}
        await self.ledger.apply_steps(name, [Start(each) for each in turn])
        await self.pause()
        steps: list[Drop | GiveBack | Finish] = [Drop(each) for each in dropped]
        steps += [GiveBack(each) if each in back else Finish(each, f"{each} by {name}".encode()) for each in turn]
        assert await self.ledger.apply_steps(name, steps) == []
        held[:] = [each for each in held if each not in dropped and each not in turn]

    async def reap(self, name: str) -> None:
        """As a reaper that dies between the two steps in every third case."""
        lost = await self.ledger.reap(name)
        if self.random.random() < 0.3:
            lost = await self.ledger.reap(REAPER)
        if self.random.random() < 0.7:
            await self.ledger.finish_lost({each.id: f"{each.id} is lost".encode() for each in lost})

    async def settles(self) -> None:
        """Waits until nothing is pending; the last who were lost are answered."""
        while (await self.ledger.totals()).count:
            assert not await self.ledger.mend()  # lists and counts fit together at any time
            for each in await self.ledger.reap(REAPER):
                await self.ledger.finish_lost({each.id: f"{each.id} is lost".encode()})
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("seed", range(4))
async def test_every_id_is_answered_once_whoever_dies(ledger: Ledger, redis: Redis, seed: int) -> None:
    fleet = Fleet(ledger, seed)
    apis = [f"api{number}" for number in range(APIS)]
    for api in apis:
        await ledger.open_replies(api)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for _ in range(WORKERS):
            group.create_task(fleet.works())
        for api in apis:
            group.create_task(fleet.reads(api))
        async with asyncio.TaskGroup() as submitting:
            for api in apis:
                submitting.create_task(fleet.submits(api))
        await fleet.settles()
        await asyncio.sleep(0.2)  # the readers read the rest
        fleet.done.set()
    twice = {key for key, count in fleet.answered.items() if count > 1}
    assert twice == set()
    assert fleet.expected - fleet.released <= set(fleet.answered)
    assert set(fleet.answered) <= fleet.expected
    totals = await ledger.totals()
    assert (totals.count, totals.waiting, totals.bytes, totals.cost, totals.clients) == (0, 0, 0, 0.0, 0)
    for name in await ledger.workers():
        assert await ledger.held(name) == []
        await ledger.leave(name)
    assert await residue(redis) == []
    assert not [key for key in await keys(redis) if "worker" in key or "slots" in key]
