"""Failures between an API process and its Redis: every waiter is answered, and no worker is reaped by mistake.

A real Redis is emptied, frozen and restarted; the slots are fakes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from redis import Redis

from sandbox_service import bootstrap
from sandbox_service.errors import IdReusedError, UnavailableError
from sandbox_service.fleet import queue, status, suite_store, watchdog
from sandbox_service.grading.retries import MOST_RESENDS, RESEND_SECONDS
from sandbox_service.grading.suites import Suite
from sandbox_service.queues.base import Job, Waiter
from sandbox_service.schema import Submission, Verdict
from sandbox_service.settings import Settings
from tests.fakes import HOLD, Script, always, hold, hold_at_first, hold_only, made, suite_of, until
from tests.guards import HANG_GUARD_SECONDS
from tests.queues.fleet_world import Fleet, running_fleet
from tests.queues.world import Setup

FAULT_SECONDS = 3.0
SOON_SECONDS = 10.0  # on a busy machine


def play(scenario: Callable[[Fleet], Awaitable[None]], script: Script = hold, **setup: Any) -> None:
    """Run a scenario in a loop of its own; it must come to its end."""

    async def run() -> None:
        async with running_fleet(Setup(script, **setup)) as fleet:
            await asyncio.wait_for(scenario(fleet), HANG_GUARD_SECONDS)

    asyncio.run(run())


async def verdicts(fleet: Fleet, tickets: list[Waiter]) -> list[Verdict]:
    return [(await fleet.world.answer(ticket)).verdict for ticket in tickets]


async def reaped(fleet: Fleet) -> int:
    return (await fleet.ledger.totals()).stats.get("reaped", 0)


async def several_looks(fleet: Fleet) -> None:
    """So long that whoever is taken for dead would have been reaped."""
    [before] = (await fleet.ledger.beats()).values()
    while [each < before + 6 for each in (await fleet.ledger.beats()).values()] == [True]:
        await asyncio.sleep(0.05)


# --- answers that do not arrive


def test_an_answer_that_never_came_by_the_stream_is_fetched() -> None:
    async def scenario(fleet: Fleet) -> None:
        ticket = await fleet.world.take(made("a"))
        await fleet.world.until_held("a")
        with Redis.from_url(fleet.redis.url) as redis:
            assert redis.delete(f"proctor:rep:{fleet.queue.name}") == 1
        fleet.world.finish("a")
        assert (await fleet.world.answer(ticket)).verdict == Verdict.AC
        assert fleet.queue.counts()["watchdog"] == 1
        assert fleet.world.tally.begun == {"a": 1}

    play(scenario)


def test_a_listener_that_stalls_keeps_no_answer_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(fleet: Fleet) -> None:
        async def stalled(*_: object) -> None:
            await asyncio.Event().wait()

        await fleet.world.grade(made("before"))
        monkeypatch.setattr(fleet.ledger, "replies", stalled)
        await fleet.world.grade(made("last that is heard"))
        assert (await fleet.world.grade(made("a"))).verdict == Verdict.AC
        assert fleet.queue.counts()["watchdog"] >= 1

    play(scenario, always("AC"))


# --- a Redis that forgets


@pytest.mark.parametrize("fault", ["flushed", "started again without what it knew"])
def test_what_redis_has_forgotten_is_submitted_again(fault: str) -> None:
    async def scenario(fleet: Fleet) -> None:
        tickets = await fleet.world.submit(*(made(f"{n}", suite=suite_of(1, f"{n}")) for n in range(5)))
        await fleet.world.until_held("0")
        if fault == "flushed":
            with Redis.from_url(fleet.redis.url) as redis:
                redis.flushall()
        else:
            await asyncio.to_thread(fleet.redis.restart)
        assert await verdicts(fleet, tickets) == [Verdict.AC] * 5
        assert fleet.queue.counts()["watchdog"] == 5

    play(scenario, lambda submission, time: HOLD if (submission.code, time) == ("0", 1) else "AC")


def test_an_id_that_another_took_when_redis_had_forgotten_it_is_answered_as_our_fault() -> None:
    async def scenario(fleet: Fleet) -> None:
        ticket = await fleet.world.take(made("a"))
        await fleet.world.until_held("a")
        with Redis.from_url(fleet.redis.url) as redis:
            redis.flushall()
        # as another API process does; by the ledger, for this one knows better
        other = fleet.queue._entry(made("a", "other"))
        await fleet.ledger.submit([other], "", queue.NO_BOUNDS)
        assert (await fleet.world.answer(ticket)).failure_kind == "forgotten"
        assert (await fleet.world.grade(made("b"))).verdict == Verdict.AC  # and it goes on keeping watch

    play(scenario, hold_only("a"))


# --- those who stand still


def test_nobody_is_reaped_because_redis_was_frozen() -> None:
    async def scenario(fleet: Fleet) -> None:
        ticket = await fleet.world.take(made("a"))
        await fleet.world.until_held("a")
        fleet.redis.stop()
        try:
            await asyncio.sleep(FAULT_SECONDS)  # the fault itself
        finally:
            fleet.redis.cont()
        await several_looks(fleet)
        assert await reaped(fleet) == 0
        fleet.world.finish("a")
        assert (await fleet.world.answer(ticket)).verdict == Verdict.AC
        assert fleet.world.tally.begun == {"a": 1}

    play(scenario)


def test_nobody_is_reaped_because_the_one_who_watches_stood_still() -> None:
    """The worker here shares its loop, so that its beats stand still as well: the hardest case."""

    async def scenario(fleet: Fleet) -> None:
        ticket = await fleet.world.take(made("a"))
        await fleet.world.until_held("a")
        time.sleep(FAULT_SECONDS)
        await several_looks(fleet)
        assert await reaped(fleet) == 0
        fleet.world.finish("a")
        assert (await fleet.world.answer(ticket)).verdict == Verdict.AC
        assert fleet.world.tally.begun == {"a": 1}

    play(scenario)


def test_a_worker_that_has_left_does_not_register_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be given work for two more seconds. That it has not is looked up when the fleet ends."""

    async def scenario(fleet: Fleet) -> None:
        beats, beat, leave = asyncio.Semaphore(0), fleet.ledger.beat, fleet.ledger.leave

        async def counted(*arguments: Any) -> Any:
            try:
                return await beat(*arguments)
            finally:
                beats.release()

        async def slow(worker: str) -> None:
            await leave(worker)
            while not beats.locked():
                await beats.acquire()
            for _ in range(2):
                await beats.acquire()

        monkeypatch.setattr(fleet.ledger, "beat", counted)
        monkeypatch.setattr(fleet.ledger, "leave", slow)
        assert (await fleet.world.grade(made("a"))).verdict == Verdict.AC

    play(scenario, always("AC"))


# --- going and coming


def test_who_comes_while_the_ledger_is_told_of_a_release_is_not_released_with_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(fleet: Fleet) -> None:
        telling, may_tell, release = asyncio.Event(), asyncio.Event(), fleet.ledger.release

        async def slow(api: str, ids: list[str]) -> None:
            if ids:
                telling.set()
                await may_tell.wait()
            await release(api, ids)

        monkeypatch.setattr(fleet.ledger, "release", slow)
        before = await fleet.world.take(made("a"))
        await fleet.world.until_held("a")
        before.release()
        await telling.wait()
        coming = asyncio.ensure_future(fleet.world.take(made("a")))
        found = asyncio.ensure_future(fleet.queue.find("a"))
        await fleet.world.settle()
        may_tell.set()
        again, other = await coming, await found
        await fleet.world.settle()
        if fleet.world.holder("a"):
            fleet.world.finish("a")
        assert await verdicts(fleet, [again, other] if other else [again]) == [Verdict.AC] * (2 if other else 1)
        assert fleet.queue.counts().get("watchdog", 0) == 0

    play(scenario, hold_at_first)


def test_one_who_goes_and_comes_again_and_again_is_answered() -> None:
    async def scenario(fleet: Fleet) -> None:
        for _ in range(100):
            (await fleet.world.take(made("a"))).release()
            await asyncio.sleep(0.013)
        ticket = await fleet.world.take(made("a"))
        await fleet.world.settle()
        await fleet.world.until_held("a")
        fleet.world.finish("a")
        assert (await fleet.world.answer(ticket)).verdict == Verdict.AC

    play(scenario)


def test_what_was_refused_is_not_kept_for_later() -> None:
    async def scenario(fleet: Fleet) -> None:
        await fleet.world.take(made("a"))
        with pytest.raises(IdReusedError):
            await fleet.world.submit(made("a", "other", keep=True), made("x", keep=True))
        assert await fleet.queue.find("x") is None
        await asyncio.sleep(watchdog.WATCH_SECONDS + 1.0)  # in which a watchdog would have sent it again
        assert await fleet.world.count() == 1

    play(scenario)


@pytest.mark.parametrize("is_frozen", [False, True])
def test_it_ends_soon_whatever_is_under_way(is_frozen: bool) -> None:
    async def scenario(fleet: Fleet) -> None:
        ticket = await fleet.world.take(made("a"))
        await fleet.world.until_held("a")
        if is_frozen:
            fleet.redis.stop()
        try:
            began = time.monotonic()
            await fleet.queue.close()
            assert time.monotonic() - began < SOON_SECONDS
        finally:
            fleet.redis.cont()
        assert isinstance(ticket.answer.exception(), UnavailableError)

    play(scenario)


# --- suites


def losing(fleet: Fleet, monkeypatch: pytest.MonkeyPatch, times: int) -> list[str]:
    """Have Redis lose a suite as often; those that were sent."""
    sent: list[str] = []
    put = fleet.ledger.put_suite

    async def put_suite(suite: str, body: bytes, seconds: int) -> bool:
        sent.append(suite)
        return True if len(sent) <= times else await put(suite, body, seconds)

    monkeypatch.setattr(fleet.ledger, "put_suite", put_suite)
    return sent


def test_a_suite_may_be_deleted_for_half_a_minute() -> None:
    assert tuple(sorted(RESEND_SECONDS)) == RESEND_SECONDS
    assert 30 <= sum(RESEND_SECONDS) <= 60


@pytest.mark.parametrize("times", [1, 2, MOST_RESENDS])
def test_a_suite_that_redis_has_lost_is_sent_again(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    monkeypatch.setattr(watchdog, "RESEND_SECONDS", (0.0,) * MOST_RESENDS)

    async def scenario(fleet: Fleet) -> None:
        sent = losing(fleet, monkeypatch, times)
        grade = await fleet.world.grade(made("a", suite=suite_of(2)))
        assert (grade.verdict, grade.total) == (Verdict.AC, 2)
        assert sent == [suite_of(2).id] * (times + 1)

    play(scenario, always("AC"))


def test_a_suite_that_is_lost_again_and_again_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "RESEND_SECONDS", (0.0,) * MOST_RESENDS)

    async def scenario(fleet: Fleet) -> None:
        sent = losing(fleet, monkeypatch, 1000)
        grade = await fleet.world.grade(made("a"))
        assert (grade.verdict, grade.failure_kind, grade.mask_sample) == (Verdict.IE, "suite_lost", True)
        assert len(sent) == 1 + MOST_RESENDS

    play(scenario)


# --- workers of another version


def test_what_a_worker_of_another_version_cannot_read_waits_for_one_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "OTHERS_SECONDS", 0.05)
    monkeypatch.setattr(status, "version", lambda _: "0.0.1")  # of the API process: the worker's is another

    def script(_: Submission, attempt: int) -> str:
        return "bad_submission" if attempt <= 3 else "AC"

    async def scenario(fleet: Fleet) -> None:
        grade = await fleet.world.grade(made("a"))
        assert grade.verdict == Verdict.AC
        assert fleet.world.tally.begun["a"] == 4

    play(scenario, script)


def test_no_api_process_shows_what_a_worker_of_another_version_could_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that was asked does not have the submission, so only the one that took it can send it again."""
    monkeypatch.setattr(watchdog, "OTHERS_SECONDS", 0.5)
    monkeypatch.setattr(status, "version", lambda _: "0.0.1")

    def script(_: Submission, attempt: int) -> str:
        return "bad_submission" if attempt == 1 else "AC"

    async def scenario(fleet: Fleet) -> None:
        settings = Settings(redis_url=fleet.redis.url, cache_seconds=0)
        async with bootstrap.fleet_queue(settings) as other:
            ticket = await fleet.world.take(made("a"))
            while (await fleet.ledger.look(["a"]))[0].state != "answered":
                await asyncio.sleep(0.01)
            asked = await other.find("a")
            assert asked is not None
            assert not asked.answer.done()
            assert await verdicts(fleet, [ticket, asked]) == [Verdict.AC, Verdict.AC]

    play(scenario, script)


def test_what_no_worker_of_this_version_can_read_is_our_fault() -> None:
    async def scenario(fleet: Fleet) -> None:
        grade = await fleet.world.grade(made("a"))
        assert (grade.verdict, grade.failure_kind) == (Verdict.IE, "bad_submission")
        assert fleet.world.tally.begun["a"] == 1

    play(scenario, always("bad_submission"))


def test_the_suite_of_what_waits_stays_however_long_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_store, "REFRESH_SECONDS", 0.4)

    async def scenario(fleet: Fleet) -> None:
        await fleet.world.take(made("a", suite=suite_of(3)))
        key = f"proctor:suite:{suite_of(3).id}"
        with Redis.from_url(fleet.redis.url) as redis:
            for _ in range(3):
                assert redis.expire(key, 3)  # all but so much of its hour has passed
                await until(lambda: int(redis.ttl(key)) > 3)
            redis.delete(key)
            await until(lambda: redis.exists(key) == 1)

    play(scenario)


def test_the_suite_of_what_is_answered_goes_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_store, "REFRESH_SECONDS", 0.4)
    monkeypatch.setattr(suite_store, "INLINE_SECONDS", 2)

    async def scenario(fleet: Fleet) -> None:
        job: Job = made("a", suite=suite_of(3))
        suite: Suite = job.suite
        await fleet.world.grade(job)
        with Redis.from_url(fleet.redis.url) as redis:
            redis.expire(f"proctor:suite:{suite.id}", 1)
            await until(lambda: redis.exists(f"proctor:suite:{suite.id}") == 0)

    play(scenario, always("AC"))
