"""Cancellation by id and by label."""

from __future__ import annotations

from sandbox_service.schema import Submission, Verdict
from tests.fakes import (
    DIE,
    HOLD,
    hold,
    hold_only,
    made,
    suite_of,
    until,
)
from tests.queues.world import World
from tests.queues.worlds import names, play


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
        assert await world.queue.cancel_labelled("group", "9") == 0
        assert await world.queue.cancel_labelled("group", "7") == 4
        grades = [await world.answer(ticket) for ticket in tickets]
        assert [grade.failure_kind for grade in grades] == ["cancelled"] * 4 + [None] * 3
        assert await world.queue.cancel_labelled("group", "7") == 0
        assert await world.queue.cancel_labelled("group", "8") == 0

    play(kind, scenario, hold_only("0"))
