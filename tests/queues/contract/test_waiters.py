"""Waiters that leave: an unwanted submission is stopped, one with `keep` is graded all the same."""

from __future__ import annotations

from sandbox_service.schema import Verdict
from tests.fakes import (
    DIE,
    HOLD,
    hold,
    hold_at_first,
    hold_only,
    made,
    until,
)
from tests.queues.world import World
from tests.queues.worlds import names, play

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
