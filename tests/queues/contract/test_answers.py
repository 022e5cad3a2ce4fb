"""Every submission is answered once: new, repeated, remembered and found by its id."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_service.errors import IdReusedError
from sandbox_service.schema import Verdict
from tests.fakes import (
    always,
    hold,
    hold_only,
    made,
    of_client,
    suite_of,
)
from tests.queues.world import World, ids
from tests.queues.worlds import names, play


def test_what_is_submitted_is_answered(kind: str) -> None:
    async def scenario(world: World) -> None:
        grades = await asyncio.gather(*(world.grade(made(name)) for name in names(50)))
        assert [(grade.id, grade.verdict) for grade in grades] == [(name, Verdict.AC) for name in names(50)]
        assert world.tally.begun == dict.fromkeys(names(50), 1)

    play(kind, scenario, slots=3)


def test_a_batch_gets_tickets_in_its_order(kind: str) -> None:
    async def scenario(world: World) -> None:
        wanted = [made(name, f"{name} wrong" if name in ("3", "7") else name) for name in names(10)]
        tickets = await world.submit(*wanted)
        assert ids(tickets) == names(10)
        grades = [await world.answer(ticket) for ticket in tickets]
        assert [(grade.id, grade.verdict) for grade in grades] == [
            (name, Verdict.WA if name in ("3", "7") else Verdict.AC) for name in names(10)
        ]

    play(kind, scenario, hold_only("nothing"), slots=3)


def test_an_answer_says_how_it_came_about(kind: str) -> None:
    async def scenario(world: World) -> None:
        grade = await world.grade(made("a", suite=suite_of(3)))
        assert (grade.grader.attempts, grade.grader.cached) == (1, False)
        assert (grade.total, len(grade.tests)) == (3, 3)
        assert grade.timing.graded_seconds > 0
        assert grade.timing.queued_seconds >= 0

    play(kind, scenario)


def test_an_unknown_id_is_not_found(kind: str) -> None:
    async def scenario(world: World) -> None:
        assert await world.queue.find("never heard of") is None
        assert await world.queue.cancel(["never heard of"]) == 0

    play(kind, scenario)


def test_the_same_submission_again_is_answered_the_same_and_computed_once(kind: str) -> None:
    async def scenario(world: World) -> None:
        at_once = await asyncio.gather(*[world.take(made("a")) for _ in range(5)])
        answers = [await world.raw(ticket) for ticket in at_once]
        later = await world.raw(await world.take(made("a")))
        assert {answer.body for answer in answers} == {later.body}
        assert world.tally.begun == {"a": 1}

    play(kind, scenario)


def test_the_same_submission_twice_in_a_batch_is_one(kind: str) -> None:
    async def scenario(world: World) -> None:
        tickets = await world.submit(made("a"), made("b"), made("a", keep=True))
        assert ids(tickets) == ["a", "b", "a"]
        await world.until_held("a")
        await world.until_depth(2)
        tickets[0].release()
        await world.settle()
        world.finish("a")
        assert (await world.answer(tickets[2])).verdict == Verdict.AC
        assert world.given[0] == "a"
        assert world.tally.begun["a"] == 1

    play(kind, scenario, hold)


def test_one_id_with_two_bodies_in_a_batch_is_refused_and_nothing_is_taken(kind: str) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(IdReusedError, match="'a'"):
            await world.submit(made("x"), made("a"), made("a", "other"))
        await world.settle()
        await world.until_depth(0)
        assert [await world.queue.find(name) for name in "xa"] == [None, None]
        assert world.given == []

    play(kind, scenario)


def test_labels_do_not_make_it_another_submission(kind: str) -> None:
    async def scenario(world: World) -> None:
        one = await world.take(of_client("x", "a", step="1"))
        other = await world.take(of_client("y", "a", step="2"))
        await world.until_held("a")
        world.finish("a")
        assert (await world.raw(one)).body == (await world.raw(other)).body
        assert world.tally.begun == {"a": 1}

    play(kind, scenario, hold)


def test_one_id_with_another_body_is_refused_while_it_waits_and_after(kind: str) -> None:
    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        with pytest.raises(IdReusedError, match="'a'"):
            await world.take(made("a", "other"))
        await world.until_held("a")
        world.finish("a")
        assert (await world.answer(ticket)).verdict == Verdict.AC
        with pytest.raises(IdReusedError, match="'a'"):
            await world.take(made("a", "other"))

    play(kind, scenario, hold)


def test_an_answer_is_remembered_and_found(kind: str) -> None:
    async def scenario(world: World) -> None:
        first = await world.raw(await world.take(made("a")))
        found = await world.queue.find("a")
        assert found is not None
        assert found.id == "a"
        assert (await world.raw(found)).body == first.body
        assert world.tally.begun == {"a": 1}

    play(kind, scenario)


@pytest.mark.parametrize("verdict", ["TLE", "MLE", "OLE", "RTE", "CE"])
def test_every_verdict_is_remembered_under_its_id(kind: str, verdict: str) -> None:
    async def scenario(world: World) -> None:
        assert (await world.grade(made("a"))).verdict == verdict
        assert (await world.grade(made("a"))).verdict == verdict
        assert world.tally.begun == {"a": 1}

    play(kind, scenario, always(verdict))


def test_who_finds_what_is_waiting_waits_for_it(kind: str) -> None:
    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await world.until_held("a")
        found = await world.queue.find("a")
        assert found is not None
        ticket.release()
        await world.settle()
        assert world.holder("a")
        world.finish("a")
        assert (await world.answer(found)).verdict == Verdict.AC

    play(kind, scenario, hold)
