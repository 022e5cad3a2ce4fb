"""What every queue does, whichever it is: with slots that answer from a script, so that no jail is needed.

Nothing submitted is lost and nothing is graded into two answers, whoever dies; the bounds hold; order is kept. No test
here supposes that anything happens at once: see world.py.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any

import orjson
import pytest

from sandbox_service.bounds import Bounds
from sandbox_service.errors import BadRequest, IdReused, QueueFull, Unavailable
from sandbox_service.queues.base import PRIORITIES, Job
from sandbox_service.queues.estimate import FIRST_GUESS_SECONDS
from sandbox_service.schema import Checker, Limits, Reward, Sample, Submission, Verdict
from tests.fakes import (
    DIE,
    HOLD,
    always,
    deserved,
    hold,
    hold_at_first,
    hold_only,
    made,
    of_client,
    suite_of,
    until,
)
from tests.queues.world import HANG_GUARD_SECONDS, WIDE, World, ids
from tests.queues.worlds import WORLDS, play


@pytest.fixture(params=list(WORLDS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def bounded(submissions: int = WIDE.submissions, size: int = WIDE.bytes, cpu_seconds: float = 1e6) -> Bounds:
    return Bounds(submissions, size, cpu_seconds)


def names(count: int, prefix: str = "") -> list[str]:
    return [f"{prefix}{number}" for number in range(count)]


# --- answers


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
        with pytest.raises(IdReused, match="'a'"):
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
        with pytest.raises(IdReused, match="'a'"):
            await world.take(made("a", "other"))
        await world.until_held("a")
        world.finish("a")
        assert (await world.answer(ticket)).verdict == Verdict.AC
        with pytest.raises(IdReused, match="'a'"):
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


# --- order


def test_submissions_are_begun_in_order_of_arrival(kind: str) -> None:
    async def scenario(world: World) -> None:
        tickets = [await world.take(made(name)) for name in names(30)]
        for ticket in tickets:
            await world.answer(ticket)
        assert world.given == names(30)

    play(kind, scenario)


def test_the_members_of_a_batch_are_begun_in_its_order(kind: str) -> None:
    async def scenario(world: World) -> None:
        for ticket in await world.submit(*map(made, names(30))):
            await world.answer(ticket)
        assert world.given == names(30)

    play(kind, scenario)


async def begun_after(world: World, first: str, *others: Job) -> list[str]:
    """What the only slot is given after the one it holds, which all others have waited for."""
    held = await world.take(made(first, labels={"client": "holder"}))
    await world.until_held(first)
    tickets = await world.submit(*others)
    world.finish(first)
    for ticket in (held, *tickets):
        await world.answer(ticket)
    assert world.given[0] == first
    return world.given[1:]


def test_a_client_with_much_does_not_keep_another_waiting(kind: str) -> None:
    async def scenario(world: World) -> None:
        many = [of_client("greedy", name) for name in names(100)]
        given = await begun_after(world, "first", *many, of_client("modest", "one"))
        assert "one" in given[:2]
        assert [name for name in given if name != "one"] == names(100)

    play(kind, scenario, hold_only("first"))


def test_clients_take_turns(kind: str) -> None:
    async def scenario(world: World) -> None:
        wanted = [of_client(client, f"{client}{n}") for client in "abc" for n in range(5)]
        given = await begun_after(world, "first", *wanted)
        rounds = [set(given[start : start + 3]) for start in range(0, 15, 3)]
        assert rounds == [{f"{client}{n}" for client in "abc"} for n in range(5)]

    play(kind, scenario, hold_only("first"))


def test_a_client_s_turn_is_not_spent_on_what_was_cancelled(kind: str) -> None:
    async def scenario(world: World) -> None:
        held = await world.take(made("first"))
        await world.until_held("first")
        many = await world.submit(*(of_client("greedy", name) for name in names(world.ahead + 20)))
        regretted = await world.submit(*(of_client("modest", name) for name in names(10, "regretted ")))
        wanted = await world.take(of_client("modest", "one"))
        for ticket in regretted:
            ticket.release()
        await world.until_depth(1 + len(many) + 1)
        world.finish("first")
        for ticket in (held, *many, wanted):
            await world.answer(ticket)
        assert world.given.index("one") <= world.ahead + 2

    play(kind, scenario, hold_only("first"))


def test_the_same_label_under_two_keys_is_two_clients(kind: str) -> None:
    async def scenario(world: World) -> None:
        many = [made(name, key="mine", labels={"client": "trainer"}) for name in names(20)]
        given = await begun_after(world, "first", *many, made("one", key="yours", labels={"client": "trainer"}))
        assert "one" in given[:2]

    play(kind, scenario, hold_only("first"))


def test_what_is_urgent_is_begun_first_and_what_is_not_last(kind: str) -> None:
    async def scenario(world: World) -> None:
        order = ["low", "normal", "high"] * 3
        wanted = [made(f"{name} {n}", labels={"priority": name}) for n, name in enumerate(order)]
        given = await begun_after(world, "first", *wanted, made("unlabelled"))
        assert given == [
            *("high 2", "high 5", "high 8"),
            *("normal 1", "normal 4", "normal 7", "unlabelled"),
            *("low 0", "low 3", "low 6"),
        ]

    play(kind, scenario, hold_only("first"))


def test_priority_goes_before_turns(kind: str) -> None:
    async def scenario(world: World) -> None:
        urgent = [of_client("greedy", name, priority="high") for name in names(5)]
        given = await begun_after(world, "first", of_client("modest", "one"), *urgent)
        assert given == [*names(5), "one"]

    play(kind, scenario, hold_only("first"))


# --- bounds


def test_more_submissions_than_may_wait_are_refused(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in names(4):
            await world.take(made(name))
        await world.until_held("0")
        with pytest.raises(QueueFull, match="submissions") as refusal:
            await world.take(made("more"))
        assert refusal.value.retry_after_seconds > 0
        await world.take(made("0"))  # one that is there already takes no room
        world.finish("0")
        await world.take_when_there_is_room(made("more"))
        await world.until_depth(4)

    play(kind, scenario, hold, bounds=bounded(submissions=4))


def test_a_batch_larger_than_the_queue_is_refused_for_good(kind: str) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(BadRequest, match="5 submissions"):
            await world.submit(*map(made, names(5)))
        assert len(await world.submit(*map(made, names(4)))) == 4

    play(kind, scenario, hold, bounds=bounded(submissions=4))


def test_a_batch_is_taken_as_a_whole_or_not_at_all(kind: str) -> None:
    async def scenario(world: World) -> None:
        await world.submit(*map(made, names(3)))
        with pytest.raises(QueueFull):
            await world.submit(made("x"), made("y"))
        await world.settle()
        await world.until_depth(3)
        assert [await world.queue.find(name) for name in "xy"] == [None, None]
        assert ids(await world.submit(made("0"), made("x"))) == ["0", "x"]  # room for one is enough
        await world.until_depth(4)

    play(kind, scenario, hold, bounds=bounded(submissions=4))


def test_a_batch_with_one_id_that_was_used_is_not_taken_at_all(kind: str) -> None:
    async def scenario(world: World) -> None:
        await world.take(made("a"))
        with pytest.raises(IdReused):
            await world.submit(made("x"), made("a", "other"), made("y"))
        await world.settle()
        await world.until_depth(1)
        assert [await world.queue.find(name) for name in "xy"] == [None, None]

    play(kind, scenario, hold)


def test_who_is_refused_does_not_wait_for_what_was_there_before(kind: str) -> None:
    """Otherwise the one who was taken could go away, and it would be graded for nobody."""

    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await world.until_held("a")
        with pytest.raises(QueueFull):
            await world.submit(made("a"), made("x"), made("y"))
        ticket.release()
        await world.until_depth(0)
        await until(lambda: world.slots[0].free)

    play(kind, scenario, hold, bounds=bounded(submissions=2))


def test_more_bytes_than_may_wait_are_refused_but_a_large_one_alone_is_not(kind: str) -> None:
    async def scenario(world: World) -> None:
        large = made("large", "x" * 9000)
        assert large.size > 5000
        await world.take(large)
        await world.until_held(large_code := "x" * 9000)
        with pytest.raises(QueueFull, match="bytes"):
            await world.take(made("small"))
        world.finish(large_code)
        await world.take_when_there_is_room(made("small"))

    play(kind, scenario, hold, bounds=bounded(size=5000))


def test_more_work_than_may_wait_is_refused_though_it_be_few_submissions(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in names(2):
            await world.take(made(name, suite=suite_of(400)))
        with pytest.raises(QueueFull, match="CPU seconds"):
            await world.take(made("more", suite=suite_of(400)))
        await world.take(made("little", suite=suite_of(100)))

    play(kind, scenario, hold, bounds=bounded(cpu_seconds=1000 * FIRST_GUESS_SECONDS))


def test_only_the_tests_of_its_sample_are_a_submission_s_work(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in names(9):
            await world.take(made(name, suite=suite_of(400), sample=Sample(count=100)))
        with pytest.raises(QueueFull, match="CPU seconds"):
            await world.take(made("more", suite=suite_of(400), sample=Sample(count=200)))

    play(kind, scenario, hold, bounds=bounded(cpu_seconds=1000 * FIRST_GUESS_SECONDS))


def test_a_client_is_not_refused_because_another_fills_the_queue(kind: str) -> None:
    async def scenario(world: World) -> None:
        await world.submit(*(of_client("greedy", name) for name in names(10)))
        with pytest.raises(QueueFull):
            await world.take(of_client("greedy", "more"))
        assert len(await world.submit(*(of_client("modest", name) for name in names(5, "m")))) == 5

    play(kind, scenario, hold, bounds=bounded(submissions=10))


def test_of_two_clients_each_may_have_half_of_what_may_wait(kind: str) -> None:
    async def scenario(world: World) -> None:
        for client in ("one", "two"):
            await world.submit(*(of_client(client, name) for name in names(4, client)))
        for client in ("one", "two"):
            await world.take(of_client(client, f"{client} more"))
            with pytest.raises(QueueFull, match="2 clients"):
                await world.take(of_client(client, f"{client} too much"))
        await world.until_depth(10)

    play(kind, scenario, hold, bounds=bounded(submissions=10))


def test_one_who_has_nothing_waiting_may_send_one_however_small_a_share_is(kind: str) -> None:
    async def scenario(world: World) -> None:
        await world.submit(*(of_client("greedy", name) for name in names(3)))
        for client in names(2, "client "):
            await world.take(of_client(client, client))
            with pytest.raises(QueueFull, match="its share"):
                await world.take(of_client(client, f"{client} again"))

    play(kind, scenario, hold, bounds=bounded(submissions=3))


def test_one_who_has_nothing_waiting_may_send_one_however_large(kind: str) -> None:
    async def scenario(world: World) -> None:
        for client, tests in (("modest", 1), ("large", 500)):
            await world.take(of_client(client, client, suite=suite_of(tests)))
            with pytest.raises(QueueFull, match="its share"):
                await world.take(of_client(client, f"{client} again", suite=suite_of(100)))

    play(kind, scenario, hold, bounds=bounded(cpu_seconds=100 * FIRST_GUESS_SECONDS))


@pytest.mark.parametrize(
    ("bounds", "what"),
    [
        (bounded(submissions=3), "submissions"),
        (bounded(size=3 * made("0").size), "bytes"),
        (bounded(cpu_seconds=2.99 * FIRST_GUESS_SECONDS), "CPU seconds"),
    ],
    ids=["submissions", "bytes", "cpu_seconds"],
)
def test_new_names_do_not_make_room_where_all_together_have_twice_what_may_wait(
    kind: str, bounds: Bounds, what: str
) -> None:
    """Names are the clients' own: whoever made up one for each submission would have no bounds."""

    async def scenario(world: World) -> None:
        sized = [made(f"{n}", f"{n}", labels={"client": f"{n}"}) for n in range(6)]
        first, *_ = [await world.take(job) for job in sized]
        with pytest.raises(QueueFull, match=f"{what} of others") as refusal:
            await world.take(of_client("another", "6"))
        assert refusal.value.retry_after_seconds > 0
        with pytest.raises(QueueFull):
            await world.submit(*(of_client(f"new {name}", name) for name in names(2, "m")))
        await world.take(sized[0])  # which is there already
        await world.until_held("0")
        world.finish("0")
        await world.answer(first)
        await world.take_when_there_is_room(of_client("another", "6"))

    play(kind, scenario, hold, bounds=bounds)


def test_a_batch_whose_work_alone_is_too_much_is_refused_for_good(kind: str) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(BadRequest, match=r"75\.0 CPU seconds at once"):
            await world.submit(*(made(name, suite=suite_of(500)) for name in names(3)))
        assert len(await world.submit(*(made(name, suite=suite_of(500)) for name in names(2)))) == 2

    play(kind, scenario, hold, bounds=bounded(cpu_seconds=1000 * FIRST_GUESS_SECONDS))


def test_a_batch_whose_bytes_alone_are_too_many_is_refused_for_good(kind: str) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(BadRequest, match="bytes at once"):
            await world.submit(*(made(name, name * 2000) for name in names(3)))
        await world.until_depth(0)
        assert len(await world.submit(*(made(name, name * 2000) for name in names(2)))) == 2

    play(kind, scenario, hold, bounds=bounded(size=5500))


def test_a_suite_that_came_with_a_submission_counts_among_its_bytes(kind: str) -> None:
    async def scenario(world: World) -> None:
        jobs = [made(name, suite=suite_of(1, name * 3000)) for name in names(2)]
        await world.take(jobs[0])
        with pytest.raises(QueueFull, match="bytes"):
            await world.take(jobs[1])
        await world.take(replace(jobs[1], own_bytes=0))  # which somebody else has paid for
        await world.until_depth(2)

    play(kind, scenario, hold, bounds=bounded(size=5500))


def test_a_client_that_has_been_served_leaves_its_share_to_the_others(kind: str) -> None:
    async def scenario(world: World) -> None:
        other = await world.take(of_client("other", "first"))
        await world.until_held("first")
        await world.submit(*(of_client("mine", name) for name in names(2)))
        with pytest.raises(QueueFull, match="2 clients"):
            await world.take(of_client("mine", "more"))
        world.finish("first")
        await world.answer(other)
        await world.take_when_there_is_room(of_client("mine", "more"))

    play(kind, scenario, hold, bounds=bounded(submissions=4))


# --- those who go away


def test_what_nobody_waits_for_is_never_begun(kind: str) -> None:
    async def scenario(world: World) -> None:
        first = await world.take(made("first"))
        await world.until_held("first")
        others = await world.submit(*map(made, names(10)))
        for ticket in others:
            ticket.release()
        await world.until_depth(1)
        world.finish("first")
        await world.answer(first)
        await world.settle()
        assert world.given == ["first"]

    play(kind, scenario, hold)


def test_what_nobody_waits_for_any_more_is_stopped(kind: str) -> None:
    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await world.until_held("a")
        ticket.release()
        await world.until_depth(0)
        await until(lambda: world.slots[0].free)
        assert await world.queue.find("a") is None

    play(kind, scenario, hold)


def test_it_is_not_stopped_while_another_waits(kind: str) -> None:
    async def scenario(world: World) -> None:
        one, other = await world.submit(made("a")), await world.submit(made("a"))
        await world.until_held("a")
        one[0].release()
        await world.settle()
        world.finish("a")
        assert (await world.answer(other[0])).verdict == Verdict.AC
        assert world.tally.begun == {"a": 1}

    play(kind, scenario, hold)


def test_a_ticket_that_is_released_twice_counts_once(kind: str) -> None:
    async def scenario(world: World) -> None:
        one, other = await world.take(made("a")), await world.take(made("a"))
        await world.until_held("a")
        one.release()
        one.release()
        await world.settle()
        world.finish("a")
        assert (await world.answer(other)).verdict == Verdict.AC
        other.release()

    play(kind, scenario, hold)


def test_one_who_comes_while_it_is_being_stopped_gets_an_answer(kind: str) -> None:
    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await world.until_held("a")
        ticket.release()
        again = await world.take(made("a"))  # perhaps before the slot has carried out the cancellation
        await world.settle()
        if world.holder("a"):
            world.finish("a")
        assert (await world.answer(again)).verdict == Verdict.AC
        assert world.tally.begun["a"] <= 2

    play(kind, scenario, hold_at_first)


def test_what_was_stopped_can_be_sent_again_even_with_another_body(kind: str) -> None:
    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await world.until_held("a")
        ticket.release()
        await world.until_depth(0)
        assert (await world.grade(made("a", "other"))).verdict == Verdict.AC

    play(kind, scenario, hold_only("a"))


def test_who_comes_back_to_it_finds_the_attempts_that_were_made(kind: str) -> None:
    """Otherwise one that kills its slots could be kept alive by going away and coming back."""

    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await until(lambda: world.tally.lost["a"] == 2)
        await world.until_held("a")
        ticket.release()
        again = await world.take(made("a"))
        await world.settle()
        if world.holder("a"):
            world.slots[0].die()
        grade = await world.answer(again)
        assert (grade.failure_kind, grade.grader.attempts) == ("worker_lost", 3)

    play(kind, scenario, lambda _, time: HOLD if time == 3 else DIE)


def test_one_who_was_answered_does_not_stop_another_who_has_the_same_id(kind: str) -> None:
    """A fault is not remembered, so the id may be in use again before the first has heard of it."""

    async def scenario(world: World) -> None:
        before = [await world.take(made("a")) for _ in range(2)]
        await world.until_held("a")
        world.finish("a", "bad_test")
        await until(lambda: all(ticket.answer.done() for ticket in before))
        after = await world.take(made("a"))
        await world.until_held("a")
        for ticket in before:
            ticket.release()
        await world.settle()
        world.finish("a")
        assert (await world.answer(after)).verdict == Verdict.AC
        assert world.tally.begun == {"a": 2}

    play(kind, scenario, hold)


def test_a_dead_slot_s_work_is_not_done_again_for_nobody(kind: str) -> None:
    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await world.until_held("a")
        world.slots[0].is_deaf = True
        ticket.release()
        await until(lambda: world.slots[0].is_told)
        world.slots[0].die()
        await world.until_depth(0)
        await world.settle()
        assert world.tally.begun == {"a": 1}

    play(kind, scenario, hold)


# --- what is kept though nobody waits


def test_what_is_to_be_kept_is_graded_though_nobody_waits(kind: str) -> None:
    async def scenario(world: World) -> None:
        ticket = await world.take(made("a", keep=True))
        ticket.release()
        await world.until_depth(0)
        assert world.tally.begun == {"a": 1}
        found = await world.queue.find("a")
        assert found is not None
        assert (await world.answer(found)).verdict == Verdict.AC

    play(kind, scenario)


def test_what_is_to_be_kept_is_not_stopped_when_one_who_asked_goes_away(kind: str) -> None:
    async def scenario(world: World) -> None:
        ticket = await world.take(made("a", keep=True))
        ticket.release()
        await world.until_held("a")
        for _ in range(2):
            found = await world.queue.find("a")
            assert found is not None
            assert not found.answer.done()
            found.release()
        await world.settle()
        world.finish("a")
        again = await world.queue.find("a")
        assert again is not None
        assert (await world.answer(again)).verdict == Verdict.AC
        assert world.tally.begun == {"a": 1}

    play(kind, scenario, hold)


def test_one_who_wants_it_kept_may_come_later(kind: str) -> None:
    async def scenario(world: World) -> None:
        for keep in (False, True):
            ticket = await world.take(made("a", keep=keep))
            await world.until_held("a")
            ticket.release() if keep else None
        await world.settle()
        world.finish("a")
        await world.until_depth(0)
        found = await world.queue.find("a")
        assert found is not None
        assert (await world.answer(found)).verdict == Verdict.AC

    play(kind, scenario, hold)


def test_a_fault_of_what_was_to_be_kept_is_kept_too(kind: str) -> None:
    """Who asks is told that there is no verdict; but the same id may be sent again, and is graded then."""

    async def scenario(world: World) -> None:
        (await world.take(made("a", keep=True))).release()
        await world.until_depth(0)
        found = await world.queue.find("a")
        assert found is not None
        assert (await world.answer(found)).failure_kind == "bad_test"
        assert (await world.grade(made("a"))).verdict == Verdict.AC
        later = await world.queue.find("a")
        assert later is not None
        assert (await world.answer(later)).verdict == Verdict.AC

    play(kind, scenario, lambda _, time: "bad_test" if time == 1 else "AC")


# --- cancellation on request


def test_cancelled_by_id_those_who_wait_are_told_and_it_is_not_graded(kind: str) -> None:
    async def scenario(world: World) -> None:
        running, *waiting = await world.submit(made("running", suite=suite_of(3)), made("waiting"), made("other"))
        await world.until_held("running")
        assert await world.queue.cancel(["running", "waiting", "nobody"]) == 2
        for ticket, total in ((running, 3), (waiting[0], 1)):
            grade = await world.answer(ticket)
            assert grade.id == ticket.id
            assert (grade.verdict, grade.reward, grade.mask_sample) == (Verdict.IE, None, True)
            assert (grade.failure_kind, grade.total) == ("cancelled", total)
        assert (await world.answer(waiting[1])).verdict == Verdict.AC
        await world.until_depth(0)
        await until(lambda: world.slots[0].free)
        assert world.given == ["running", "other"]

    play(kind, scenario, hold_only("running"))


def test_everybody_who_waits_is_told_of_the_cancellation(kind: str) -> None:
    async def scenario(world: World) -> None:
        tickets = [await world.take(made("a")) for _ in range(3)]
        await world.until_held("a")
        assert await world.queue.cancel(["a"]) == 1
        assert {(await world.answer(ticket)).failure_kind for ticket in tickets} == {"cancelled"}

    play(kind, scenario, hold)


def test_naming_one_twice_cancels_it_once(kind: str) -> None:
    async def scenario(world: World) -> None:
        running, waiting = await world.submit(made("running"), made("waiting"))
        await world.until_held("running")
        assert await world.queue.cancel(["waiting", "running", "waiting", "running"]) == 2
        for ticket in (running, waiting):
            assert (await world.answer(ticket)).failure_kind == "cancelled"
        await world.until_depth(0)

    play(kind, scenario, hold)


def test_what_is_kept_can_be_cancelled(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in ("running", "waiting"):
            (await world.take(made(name, keep=True))).release()
        await world.until_held("running")
        assert await world.queue.cancel(["running", "waiting"]) == 2
        await world.until_depth(0)
        await until(lambda: world.slots[0].free)
        await world.settle()
        assert world.given == ["running"]

    play(kind, scenario, hold)


def test_what_was_cancelled_can_be_sent_again_even_with_another_body(kind: str) -> None:
    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await world.until_held("a")
        await world.queue.cancel(["a"])
        again = await world.take(made("a", "other"))  # perhaps before the slot has carried out the cancellation
        assert (await world.answer(ticket)).failure_kind == "cancelled"
        assert (await world.answer(again)).verdict == Verdict.AC

    play(kind, scenario, hold_only("a"))


def test_what_was_answered_is_not_cancelled(kind: str) -> None:
    async def scenario(world: World) -> None:
        assert (await world.grade(made("a"))).verdict == Verdict.AC
        assert await world.queue.cancel(["a"]) == 0
        assert (await world.grade(made("a"))).verdict == Verdict.AC
        assert world.tally.begun == {"a": 1}

    play(kind, scenario)


def test_a_cancelled_one_that_is_being_tried_again_is_not_graded(kind: str) -> None:
    """It waits for a slot, as others do that are before it in no book of the queue's own."""

    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await until(lambda: world.tally.lost["a"] >= 1)
        assert await world.queue.cancel(["a", "a"]) == 1
        assert (await world.answer(ticket)).failure_kind == "cancelled"
        await world.until_depth(0)
        assert (await world.grade(made("b"))).verdict == Verdict.AC

    def script(submission: Submission, time: int) -> str:
        return "AC" if submission.code == "b" else DIE if time == 1 else HOLD

    play(kind, scenario, script)


def test_a_group_is_found_and_cancelled_by_its_label(kind: str) -> None:
    async def scenario(world: World) -> None:
        group = [made(name, labels={"group": "7", "step": "1"}) for name in names(4)]
        others = [made("other group", labels={"group": "8"}), made("no group"), made("value", labels={"x": "7"})]
        tickets = await world.submit(*group, *others)
        await world.until_held("0")
        found = await world.queue.labelled("group", "7")
        assert sorted(found) == names(4)
        assert await world.queue.labelled("group", "9") == []
        assert await world.queue.cancel(found) == 4
        grades = [await world.answer(ticket) for ticket in tickets]
        assert [grade.failure_kind for grade in grades] == ["cancelled"] * 4 + [None] * 3
        assert await world.queue.labelled("group", "7") == []
        assert await world.queue.labelled("group", "8") == []

    play(kind, scenario, hold_only("0"))


# --- faults


def test_a_dead_slot_s_work_is_done_by_another_and_first(kind: str) -> None:
    async def scenario(world: World) -> None:
        tickets = await world.submit(*map(made, names(4)))
        grades = [await world.answer(ticket) for ticket in tickets]
        assert [grade.verdict for grade in grades] == [Verdict.AC] * 4
        assert [grade.grader.attempts for grade in grades] == [2, 1, 1, 1]
        assert world.given == ["0", "0", "1", "2", "3"]

    play(kind, scenario, lambda submission, time: DIE if submission.code == "0" and time == 1 else "AC")


def test_what_takes_three_slots_with_it_is_given_up_as_our_fault(kind: str) -> None:
    async def scenario(world: World) -> None:
        grade = await world.grade(made("deadly", suite=suite_of(2)))
        assert (grade.id, grade.verdict, grade.reward) == ("deadly", Verdict.IE, None)
        assert (grade.failure_kind, grade.mask_sample) == ("worker_lost", True)
        assert (grade.total, grade.grader.attempts) == (2, 3)
        assert world.tally.begun == {"deadly": 3}
        assert (await world.grade(made("harmless"))).verdict == Verdict.AC

    play(kind, scenario, lambda submission, _: DIE if submission.code == "deadly" else "AC", slots=2)


@pytest.mark.parametrize("fault", ["sandbox", "jail_unsafe", "grader_error"])
def test_a_fault_of_ours_is_tried_again(kind: str, fault: str) -> None:
    async def scenario(world: World) -> None:
        grade = await world.grade(made("a"))
        assert (grade.verdict, grade.grader.attempts) == (Verdict.WA, 3)
        grade = await world.grade(made("b"))
        assert (grade.failure_kind, grade.grader.attempts) == (fault, 3)

    def script(submission: Submission, time: int) -> str:
        return "WA" if submission.code == "a" and time == 3 else fault

    play(kind, scenario, script, slots=2)


def test_a_bad_test_is_not_tried_again(kind: str) -> None:
    async def scenario(world: World) -> None:
        assert (await world.grade(made("a"))).failure_kind == "bad_test"
        assert world.tally.begun == {"a": 1}

    play(kind, scenario, always("bad_test"))


def test_a_fault_is_not_remembered(kind: str) -> None:
    async def scenario(world: World) -> None:
        assert (await world.grade(made("a"))).verdict == Verdict.IE
        assert (await world.grade(made("a"))).verdict == Verdict.AC

    play(kind, scenario, lambda _, time: "sandbox" if time <= 3 else "AC")


def test_after_a_fault_the_id_may_be_used_for_another_body(kind: str) -> None:
    async def scenario(world: World) -> None:
        assert (await world.grade(made("a"))).verdict == Verdict.IE
        assert (await world.grade(made("a", "other"))).verdict == Verdict.AC

    play(kind, scenario, lambda submission, _: "bad_test" if submission.code == "a" else "AC")


def test_while_one_slot_can_grade_nobody_is_turned_away(kind: str) -> None:
    async def scenario(world: World) -> None:
        world.slots[0].fail(60)
        assert (await world.grade(made("a"))).verdict == Verdict.AC
        assert world.queue.unready() == []
        assert world.slots[0].given == []

    play(kind, scenario, slots=2)


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
        with pytest.raises(IdReused):
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


# --- what it says of itself


def test_it_says_how_much_waits_and_how_much_is_being_graded(kind: str) -> None:
    async def scenario(world: World) -> None:
        for name in names(5):
            await world.take(made(name))
        await world.until_held("0")
        await until(lambda: world.queue.depth().submissions == 5)
        await until(lambda: 4 - world.ahead <= world.queue.depth().waiting <= 4)
        depth = world.queue.depth()
        assert depth.bytes > 0
        assert depth.cpu_seconds == pytest.approx(5 * FIRST_GUESS_SECONDS, rel=0.01)
        await until(lambda: world.queue.depth().oldest_seconds > 0)

    play(kind, scenario, hold)


def test_it_says_who_grades(kind: str) -> None:
    async def scenario(world: World) -> None:
        await until(lambda: world.queue.languages() == ["Fake 1.0", "Fake 1.1"])
        [worker] = world.queue.workers()
        assert (worker.slots, worker.ready, worker.busy) == (2, 2, 0)
        assert worker.languages == ["Fake 1.0", "Fake 1.1"]
        await world.take(made("a"))
        await until(lambda: [each.busy for each in world.queue.workers()] == [1])

    play(kind, scenario, hold, slots=2)


# --- the end


def test_draining_finishes_what_was_taken_and_takes_nothing_more(kind: str) -> None:
    async def scenario(world: World) -> None:
        ticket = await world.take(made("a"))
        await world.until_held("a")
        draining = asyncio.ensure_future(world.queue.drain(HANG_GUARD_SECONDS))
        await until(lambda: world.queue.unready() == ["closing"])
        with pytest.raises(Unavailable):
            await world.take(made("b"))
        world.finish("a")
        await draining
        assert (await world.answer(ticket)).verdict == Verdict.AC
        assert world.given == ["a"]

    play(kind, scenario, hold)


def test_what_is_not_finished_in_time_is_told_to_go_elsewhere(kind: str) -> None:
    async def scenario(world: World) -> None:
        tickets = await world.submit(*map(made, names(5)))
        await world.queue.drain(0.05)
        for ticket in tickets:
            with pytest.raises(Unavailable, match="elsewhere"):
                await world.answer(ticket)

    play(kind, scenario, hold)


# --- everything at random


class Chaos:
    """Clients that come, come again and go, cancel, and want things kept, while slots die and fail."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.cancelled: set[str] = set()
        self.abandoned: set[str] = set()

    def script(self, submission: Submission, _: int) -> str:
        what = self.chance.choices(["right", DIE, "sandbox", HOLD], [10, 3, 1, 3])[0]
        return deserved(submission.code) if what == "right" else what

    def job(self, number: int) -> Job:
        """One of forty submissions, each of which comes five times."""
        name = f"{number % 40}"
        labels = {"client": self.chance.choice("ab"), "priority": self.chance.choice(PRIORITIES), "group": name}
        code = f"{name} wrong" if int(name) % 3 == 0 else name
        return made(name, code, labels=labels, keep=self.chance.random() < 0.1)

    async def client(self, world: World, number: int) -> None:
        job = self.job(number)
        await asyncio.sleep(self.chance.random() * 0.02)
        if self.chance.random() < 0.05:
            self.cancelled.add(job.id)
            await world.queue.cancel(await world.queue.labelled("group", job.id))
        patience = self.chance.choice([None, None, None, 0.005])
        try:
            grade = await asyncio.wait_for(world.grade(job), patience)
        except TimeoutError:
            self.abandoned.add(job.id)
            return
        self.check(world, job, grade.id, grade.verdict, grade.failure_kind)

    def check(self, world: World, job: Job, name: str, verdict: Verdict, kind: str | None) -> None:
        code = orjson.loads(job.body)["code"]
        assert name == job.id
        if kind == "cancelled":
            assert name in self.cancelled
        elif verdict == Verdict.IE:
            assert world.tally.lost[code] >= 3
        else:
            assert verdict == deserved(code)
        undisturbed = not world.tally.lost[code] and name not in self.cancelled | self.abandoned
        assert not undisturbed or world.tally.begun[code] == 1

    async def finish_what_is_held(self, world: World) -> None:
        """Let held submissions end now and then: some well, some with their slot."""
        while True:
            await asyncio.sleep(0.002)
            for slot in world.slots:
                if slot.is_holding():
                    if self.chance.random() < 0.2:
                        slot.die()
                    else:
                        slot.finish_right()


@pytest.mark.parametrize("seed", range(25))
def test_whatever_happens_each_gets_one_right_answer(kind: str, seed: int) -> None:
    """Slots die and fail, clients come, come again and go; every one that stays is answered as it must be."""
    chaos = Chaos(seed)

    async def scenario(world: World) -> None:
        unstick = asyncio.ensure_future(chaos.finish_what_is_held(world))
        done = await asyncio.gather(*(chaos.client(world, number) for number in range(200)), return_exceptions=True)
        assert [error for error in done if error is not None] == []
        await world.until_depth(0)
        await until(lambda: all(slot.free for slot in world.slots))
        unstick.cancel()

    play(kind, scenario, chaos.script, slots=3)
