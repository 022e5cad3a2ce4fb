"""Damaged answers in Redis: the waiter gets a fault, never a verdict or a reward.

Another program has written the answer, or a part of it was lost. It is counted, and the queue goes on serving.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import orjson
import pytest
from redis import Redis

from sandbox_service.fleet import queue, watchdog
from sandbox_service.fleet.ledger.entries import Found
from sandbox_service.fleet.ledger.packing import AnswerCodec
from sandbox_service.queues.base import Job, Waiter
from sandbox_service.schema import Grade, TestResult, Verdict
from tests.fakes import Script, always, hold, made
from tests.guards import HANG_GUARD_SECONDS
from tests.queues.fleet_world import Fleet, running_fleet
from tests.queues.world import Setup

LESS_SECONDS = 0.2

TESTS = [TestResult(index=0, verdict=Verdict.WA)]
GRADE = orjson.loads(Grade(id="", verdict=Verdict.WA, reward=0.0, tests=TESTS).model_dump_json())


def but(**fields: Any) -> bytes:
    """A grade, if it were not for these."""
    return orjson.dumps(GRADE | fields)


NO_GRADES = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00{",
    "cut off": but()[:-9],
    "null": b"null",
    "a number": b"0",
    "a text": b'"WA"',
    "a list": b"[]",
    "deep": b"[" * 5000,
    "only a reward": b'{"verdict":"WA","reward":0.0}',
    "a verdict that is no text": but(verdict=0),
    "no time": but(timing={"queued_seconds": 0.0}),
    "a time that is no number": but(timing={"queued_seconds": 0.0, "graded_seconds": "long"}),
    "a time before": but(timing={"queued_seconds": 0.0, "graded_seconds": -1.0}),
    "nobody who graded": but(grader=None),
    "a kind that is no text": but(failure_kind=7),
    "tests that are none": but(tests=[1, 2]),
}
FLAGS = {"G": "a grade", "C": "one that was made for another id", "F": "a fault"}
RESULTS = {f"{what}: {name}": (each, flag.encode()) for flag, what in FLAGS.items() for name, each in NO_GRADES.items()}


def play(scenario: Callable[[Fleet, Redis], Awaitable[None]], script: Script = hold, **setup: Any) -> None:
    """Run a scenario in a loop of its own; it must come to its end, and the queue must serve then."""

    async def run() -> None:
        async with running_fleet(Setup(script, **setup)) as fleet:
            with Redis.from_url(fleet.redis.url) as redis:
                await asyncio.wait_for(scenario(fleet, redis), HANG_GUARD_SECONDS)
            await asyncio.wait_for(serves(fleet), HANG_GUARD_SECONDS)

    asyncio.run(run())


async def serves(fleet: Fleet) -> None:
    """The queue takes another one, which is graded after all that slots hold."""
    ticket = await fleet.world.take(made("after", "AC"))
    while not ticket.answer.done():
        for slot in fleet.world.slots:
            if slot.is_holding():
                slot.finish()
        await asyncio.sleep(0.001)
    assert (await fleet.world.answer(ticket)).verdict == Verdict.AC
    assert fleet.queue.unready() == []


def stored(job: Job, answer: bytes, flag: bytes = b"G") -> bytes:
    """As the ledger writes answers."""
    return flag + AnswerCodec().pack(answer, False, job.digest)[1:]


async def faults(fleet: Fleet, tickets: Iterable[Waiter]) -> list[tuple[str, str | None, float | None, bool]]:
    """What those are told who wait for these."""
    grades = [await fleet.world.answer(ticket) for ticket in tickets]
    return [(grade.id, grade.failure_kind, grade.reward, grade.mask_sample) for grade in grades]


def unreadable(*ids: str) -> list[tuple[str, str, None, bool]]:
    """What they are to be told."""
    return [(each, "unreadable_answer", None, True) for each in ids]


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watchdog does not let anybody wait for two seconds."""
    monkeypatch.setattr(watchdog, "WATCH_SECONDS", LESS_SECONDS)
    monkeypatch.setattr(queue, "STATE_SECONDS", LESS_SECONDS)


def test_it_came_by_the_stream() -> None:
    async def scenario(fleet: Fleet, redis: Redis) -> None:
        jobs = {name: made(name, "held") for name in NO_GRADES}
        tickets = await fleet.world.submit(*jobs.values())
        for name, answer in NO_GRADES.items():
            redis.xadd(f"proctor:rep:{fleet.queue.name}", {name: stored(jobs[name], answer)})
        assert await faults(fleet, tickets) == unreadable(*NO_GRADES)
        assert fleet.queue.counts()["refused"] == len(NO_GRADES)
        assert fleet.queue.counts().get("watchdog", 0) == 0
        last = await fleet.world.take(made("last"))
        redis.xadd(f"proctor:rep:{fleet.queue.name}", {"last": stored(made("last"), but(id="last"))})
        assert (await fleet.world.answer(last)).verdict == Verdict.WA  # a grade is one, whoever wrote it

    play(scenario)


def test_what_is_no_reply_at_all_is_passed_over() -> None:
    async def scenario(fleet: Fleet, redis: Redis) -> None:
        stream = f"proctor:rep:{fleet.queue.name}"
        redis.xadd(stream, {"other": "fields", "": "no answer"})
        redis.xadd(stream, {b"\xff\xfe": b"whose?"})
        redis.xadd(stream, {"nobody's": b"G"})
        assert (await fleet.world.grade(made("a"))).verdict == Verdict.AC
        assert fleet.queue.counts()["refused"] == 4
        assert fleet.queue.counts().get("watchdog", 0) == 0

    play(scenario, always("AC"))


@pytest.mark.usefixtures("early")
def test_the_watchdog_finds_it() -> None:
    async def scenario(fleet: Fleet, redis: Redis) -> None:
        jobs = [made(name) for name in RESULTS]
        tickets = await fleet.world.submit(*jobs)
        for job in jobs:
            redis.set(f"proctor:res:{job.id}", stored(job, *RESULTS[job.id]), ex=600)
        assert await faults(fleet, tickets) == unreadable(*RESULTS)
        assert fleet.queue.counts()["refused"] == fleet.queue.counts()["watchdog"] == len(RESULTS)

    play(scenario)


@pytest.mark.usefixtures("early")
def test_the_watchdog_finds_what_does_not_even_say_whose_it_is() -> None:
    async def scenario(fleet: Fleet, redis: Redis) -> None:
        tickets = await fleet.world.submit(made("short"), made("long"))
        redis.set("proctor:res:short", b"\xff", ex=600)
        redis.set("proctor:res:long", bytes(range(256)), ex=600)
        assert await faults(fleet, tickets) == unreadable("short", "long")
        assert fleet.queue.counts()["refused"] == 2

    play(scenario)


@pytest.mark.usefixtures("early")
def test_the_watchdog_finds_it_when_it_sends_something_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(fleet: Fleet, redis: Redis) -> None:
        async def forgotten(ids: Iterable[str]) -> list[Found]:
            return [Found("gone") for _ in ids]

        job = made("a")
        ticket = await fleet.world.take(job)
        with monkeypatch.context() as patch:
            patch.setattr(fleet.ledger, "look", forgotten)
            redis.set("proctor:res:a", stored(job, b"null"), ex=600)
            assert await faults(fleet, [ticket]) == unreadable("a")
        assert fleet.queue.counts()["refused"] == 1

    play(scenario)


def test_one_who_asks_for_it_by_its_id_finds_it() -> None:
    async def scenario(fleet: Fleet, redis: Redis) -> None:
        for name, result in RESULTS.items():
            redis.set(f"proctor:res:{name}", stored(made(name), *result), ex=600)
        tickets = [await fleet.queue.find(name) for name in RESULTS]
        assert await faults(fleet, filter(None, tickets)) == unreadable(*RESULTS)
        assert fleet.queue.counts()["refused"] == len(RESULTS)

    play(scenario)


def test_one_who_sends_the_same_again_finds_it() -> None:
    async def scenario(fleet: Fleet, redis: Redis) -> None:
        jobs = [made(name) for name in NO_GRADES]
        for job in jobs:
            redis.set(f"proctor:res:{job.id}", stored(job, NO_GRADES[job.id]), ex=600)
        assert await faults(fleet, await fleet.world.submit(*jobs)) == unreadable(*NO_GRADES)
        assert fleet.queue.counts()["refused"] == len(NO_GRADES)

    play(scenario)


def test_one_who_sends_the_same_work_finds_it_in_the_cache() -> None:
    async def scenario(fleet: Fleet, redis: Redis) -> None:
        jobs = [made(name) for name in NO_GRADES]
        graders = fleet.queue._status.graders.encode()
        for job in jobs:
            redis.set(b"proctor:cache:" + job.digest + graders, stored(job, NO_GRADES[job.id]), ex=600)
        assert await faults(fleet, await fleet.world.submit(*jobs)) == unreadable(*NO_GRADES)
        assert fleet.queue.counts()["refused"] == len(NO_GRADES)

    play(scenario, cache_seconds=600)
