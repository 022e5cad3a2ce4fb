"""Faults: slots that die, grades without a verdict, and how often a submission is tried."""

from __future__ import annotations

import pytest

from sandbox_service.schema import Submission, Verdict
from tests.fakes import (
    DIE,
    always,
    made,
    suite_of,
)
from tests.queues.world import World
from tests.queues.worlds import names, play


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
