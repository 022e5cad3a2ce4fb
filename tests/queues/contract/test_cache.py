"""Suites that were put, and the cache of results."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import orjson
import pytest

from sandbox_service.errors import IdReusedError
from sandbox_service.schema import Checker, Limits, Reward, Sample
from tests.fakes import (
    always,
    made,
    suite_of,
    until,
)
from tests.queues.world import World
from tests.queues.worlds import play

# --- suites


def test_a_suite_that_was_put_is_there_and_one_that_was_not_is_missing(kind: str) -> None:
    async def scenario(world: World) -> None:
        one, other = suite_of(1, "1"), suite_of(2, "2")
        assert await world.queue.missing_suites([other.id, one.id]) == [other.id, one.id]
        assert await world.queue.suite(one.id) is None
        assert await world.queue.put_suite(one) is True
        assert await world.queue.put_suite(one) is False
        found = await world.queue.suite(one.id)
        assert found is not None
        assert (found.id, found.body, found.tests) == (one.id, one.body, one.tests)
        assert await world.queue.missing_suites([other.id, one.id]) == [other.id]
        assert await world.queue.suite(other.id) is None

    play(kind, scenario)


def test_slots_get_the_suite_that_a_submission_names(kind: str) -> None:
    async def scenario(world: World) -> None:
        many = [suite_of(count, str(count)) for count in (1, 2, 3)]
        wanted = [made(f"{n}", suite=many[n % 3]) for n in range(12)]
        for ticket in await world.submit(*wanted):
            grade = await world.answer(ticket)
            assert grade.total == int(grade.id) % 3 + 1
        assert world.slots[0].suites == [many[n % 3].id for n in range(12)]

    play(kind, scenario)


# --- the cache of results


CACHED = 600.0


def test_the_same_work_under_another_id_is_not_done_again(kind: str) -> None:
    async def scenario(world: World) -> None:
        first = await world.grade(made("a", "same", labels={"step": "1"}))
        second = await world.grade(made("b", "same", labels={"step": "2", "client": "other", "priority": "low"}))
        assert (first.id, first.grader.cached) == ("a", False)
        assert (second.id, second.grader.cached) == ("b", True)
        assert second.model_copy(update={"id": "a", "grader": first.grader, "timing": first.timing}) == first
        assert world.tally.begun == {"same": 1}
        await until(lambda: world.queue.counts().get("cached") == 1)
        found = await world.queue.find("b")
        assert found is not None
        assert (await world.answer(found)).id == "b"

    play(kind, scenario, always("WA"), cache_seconds=CACHED)


@pytest.mark.parametrize(
    "change",
    [
        {"limits": Limits(cpu_seconds=3)},
        {"checker": Checker(type="exact")},
        {"reward": Reward(scheme="fraction")},
        {"stop_on_failure": False},
        {"sample": Sample(count=1)},
        {"suite": suite_of(2, "other")},
        {"extraction": "whole"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_work_is_done_though_the_code_is_the_same(kind: str, change: dict[str, Any]) -> None:
    async def scenario(world: World) -> None:
        before = await world.grade(made("a", "same", suite_of(2)))
        after = await world.grade(made("b", "same", **({"suite": suite_of(2)} | change)))
        assert (before.grader.cached, after.grader.cached) == (False, False)
        assert world.tally.begun == {"same": 2}

    play(kind, scenario, cache_seconds=CACHED)


def test_other_code_is_other_work(kind: str) -> None:
    async def scenario(world: World) -> None:
        for code in ("one", "other"):
            assert not (await world.grade(made(code, code))).grader.cached
        assert world.tally.begun == {"one": 1, "other": 1}

    play(kind, scenario, cache_seconds=CACHED)


@pytest.mark.parametrize("verdict", ["AC", "WA", "RTE", "CE"])
def test_a_verdict_that_does_not_depend_on_the_machine_is_cached(kind: str, verdict: str) -> None:
    async def scenario(world: World) -> None:
        assert [(await world.grade(made(name, "same"))).verdict for name in "abc"] == [verdict] * 3
        assert world.tally.begun == {"same": 1}

    play(kind, scenario, always(verdict), cache_seconds=CACHED)


@pytest.mark.parametrize("verdict", ["TLE", "MLE", "OLE", "bad_test"])
def test_what_may_be_otherwise_another_time_is_not_cached(kind: str, verdict: str) -> None:
    async def scenario(world: World) -> None:
        for name in "abc":
            grade = await world.grade(made(name, "same"))
            assert (grade.verdict, grade.grader.cached) == ("IE" if verdict == "bad_test" else verdict, False)
        assert world.tally.begun == {"same": 3}

    play(kind, scenario, always(verdict), cache_seconds=CACHED)


def test_what_is_wanted_fresh_is_done_again_and_its_answer_not_cached(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in "ab":
            assert not (await world.grade(replace(made(name, "same"), fresh=True))).grader.cached
        assert not (await world.grade(made("c", "same"))).grader.cached
        assert not (await world.grade(replace(made("d", "same"), fresh=True))).grader.cached
        assert (await world.grade(made("e", "same"))).grader.cached
        assert world.tally.begun == {"same": 4}

    play(kind, scenario, cache_seconds=CACHED)


def test_without_a_cache_the_same_work_is_done_again(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in "abc":
            assert not (await world.grade(made(name, "same"))).grader.cached
        assert world.tally.begun == {"same": 3}

    play(kind, scenario)


def test_what_is_cached_is_forgotten_after_its_time(kind: str) -> None:
    async def scenario(world: World) -> None:
        number = 0
        while world.tally.begun["same"] < 2:  # or this takes too long
            await world.grade(made(f"{number}", "same"))
            number += 1
            await asyncio.sleep(0.01)

    play(kind, scenario, cache_seconds=1)


def test_a_cached_answer_may_be_asked_for_again_but_its_id_not_be_reused(kind: str) -> None:
    async def scenario(world: World) -> None:
        await world.grade(made("a", "same"))
        first = await world.raw(await world.take(made("b", "same")))
        assert orjson.loads((await world.raw(await world.take(made("b", "same")))).body)["id"] == "b"
        assert first.head["grader"]["cached"]
        with pytest.raises(IdReusedError):
            await world.take(made("b", "other"))

    play(kind, scenario, cache_seconds=CACHED)


def test_what_is_cached_is_kept_where_that_is_wanted(kind: str) -> None:
    async def scenario(world: World) -> None:
        await world.grade(made("a", "same"))
        (await world.take(made("b", "same", keep=True))).release()
        await world.until_depth(0)
        found = await world.queue.find("b")
        assert found is not None
        assert (await world.answer(found)).id == "b"

    play(kind, scenario, cache_seconds=CACHED)
