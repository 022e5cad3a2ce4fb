"""The slots of one machine: who is given what, what is tried again, and what must run alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from sandbox_service.answers import Answer
from sandbox_service.crew import Crew, Task
from sandbox_service.slots import Owner
from tests.fakes import DIE, FakeSlot, Script, Tally, hold, made, until

HANG_GUARD_SECONDS = 20.0


class Books:
    """An owner that writes down what it is told."""

    def __init__(self, script: Script, slots: int) -> None:
        self.slots: list[FakeSlot] = []
        self.tally = Tally()
        self.begun: list[str] = []
        self.done: dict[str, Answer | None] = {}
        self.most_at_once = 0
        self._script = script
        self.crew = Crew(self._make, slots, self)

    def _make(self, index: int, owner: Owner) -> Any:
        self.slots.append(FakeSlot(index, owner, self._script, self.tally))
        return self.slots[-1]

    def give(self, *names: str, alone: bool = False) -> list[Task]:
        """Tasks by these names."""
        jobs = [made(name) for name in names]
        tasks = [Task(job.id, job.body, job.suite, job.tests, alone=alone) for job in jobs]
        for task in tasks:
            self.crew.give(task)
        return tasks

    def task_begun(self, task: Task) -> None:
        self.begun.append(task.id)
        self.most_at_once = max(self.most_at_once, self.crew.busy)

    def task_done(self, task: Task, answer: Answer | None) -> None:
        assert task.id not in self.done, "answered twice"
        self.done[task.id] = answer

    def crew_idle(self) -> None:
        """Nothing more to give."""

    def crew_failed(self) -> None:
        """Not of interest here."""

    def running(self) -> list[str]:
        return sorted(slot.held.submission.code or "" for slot in self.slots if slot.held)

    async def finish(self, name: str) -> None:
        """Have the slot that holds it answer, once it is really at it."""
        await until(lambda: any(slot.is_holding(name) for slot in self.slots))
        next(slot for slot in self.slots if slot.is_holding(name)).finish()


def run(scenario: Callable[[Books], Awaitable[None]], script: Script = hold, slots: int = 2) -> None:
    async def body() -> None:
        books = Books(script, slots)
        await asyncio.wait_for(scenario(books), HANG_GUARD_SECONDS)
        assert books.crew.held == books.crew.busy == 0
        await books.crew.close()
        assert all(slot.closed for slot in books.slots)

    asyncio.run(body())


def test_an_answer_gets_the_id_the_attempts_and_the_wait_that_slots_do_not_know() -> None:
    async def scenario(books: Books) -> None:
        books.give("a")
        await until(lambda: "a" in books.done)
        answer = books.done["a"]
        assert answer is not None
        grade = answer.grade()
        assert (grade.id, grade.verdict, grade.grader.attempts) == ("a", "AC", 2)
        assert grade.timing.queued_seconds >= 0

    run(scenario, lambda _, time: DIE if time == 1 else "AC")


def test_it_says_how_much_it_holds_and_how_much_more_it_could_begin() -> None:
    async def scenario(books: Books) -> None:
        assert (books.crew.idle, books.crew.busy, books.crew.held) == (2, 0, 0)
        books.give("a")
        assert (books.crew.idle, books.crew.busy, books.crew.held) == (1, 1, 1)
        books.give("b", "c")
        assert (books.crew.idle, books.crew.busy, books.crew.held) == (0, 2, 3)
        for name in "abc":
            await books.finish(name)

    run(scenario)


def test_what_waits_can_be_taken_back_and_what_runs_cannot() -> None:
    async def scenario(books: Books) -> None:
        books.give("a", "b", "c", "d")
        assert [task.id for task in books.crew.take_back()] == ["c", "d"]
        for name in "ab":
            await books.finish(name)
        assert list(books.done) == ["a", "b"]

    run(scenario)


# --- alone


def test_what_is_to_be_alone_waits_until_nothing_runs() -> None:
    async def scenario(books: Books) -> None:
        books.give("a", "b")
        books.give("alone", alone=True)
        await books.finish("a")
        assert books.running() == ["b"]
        await books.finish("b")
        assert books.running() == ["alone"]
        await books.finish("alone")

    run(scenario)


def test_beside_what_is_alone_nothing_is_begun_and_after_it_everything() -> None:
    async def scenario(books: Books) -> None:
        books.give("alone", alone=True)
        books.give("a", "b", "c")
        await until(lambda: any(slot.is_holding("alone") for slot in books.slots))
        assert books.running() == ["alone"]
        await books.finish("alone")
        assert books.running() == ["a", "b"]
        for name in "abc":
            await books.finish(name)
        assert books.begun == ["alone", "a", "b", "c"]

    run(scenario)


def test_several_that_are_to_be_alone_run_one_after_another() -> None:
    async def scenario(books: Books) -> None:
        books.give("x", "y", "z", alone=True)
        for name in "xyz":
            assert books.running() == [name]
            await books.finish(name)
        assert books.most_at_once == 1

    run(scenario, slots=3)


def test_one_that_is_alone_and_loses_its_slot_is_tried_again_alone() -> None:
    async def scenario(books: Books) -> None:
        books.give("alone", alone=True)
        books.give("a", "b")
        await until(lambda: books.begun.count("alone") == 2)
        assert books.running() == ["alone"]
        await books.finish("alone")
        for name in "ab":
            await books.finish(name)
        assert books.begun == ["alone", "alone", "a", "b"]

    run(scenario, lambda submission, time: DIE if submission.code == "alone" and time == 1 else "hold")


def test_when_one_that_waits_to_be_alone_is_cancelled_the_others_need_not_wait_for_it() -> None:
    async def scenario(books: Books) -> None:
        books.give("a")
        [alone] = books.give("alone", alone=True)
        books.give("b")
        assert books.running() == ["a"]
        books.crew.cancel(alone)
        assert books.done == {"alone": None}
        assert books.running() == ["a", "b"]
        for name in "ab":
            await books.finish(name)

    run(scenario)


def test_one_that_is_to_be_alone_need_not_wait_for_a_dead_slot_to_come_back() -> None:
    async def scenario(books: Books) -> None:
        [task] = books.give("deadly")
        task.attempts = 3  # its last
        books.give("alone", alone=True)
        await until(lambda: books.slots[0].is_holding("deadly"))
        books.slots[0].die()
        assert books.done["deadly"] is not None
        assert books.running() == ["alone"]
        await books.finish("alone")

    run(scenario)


# --- cancellation


def test_what_waits_is_cancelled_at_once_and_what_runs_when_its_slot_says_so() -> None:
    async def scenario(books: Books) -> None:
        running, waiting = books.give("running", "waiting")
        await until(lambda: books.slots[0].is_holding("running"))
        books.crew.cancel(waiting)
        assert books.done == {"waiting": None}
        books.crew.cancel(running)
        assert books.done == {"waiting": None}
        await until(lambda: "running" in books.done)
        assert books.done["running"] is None
        assert books.begun == ["running"]

    run(scenario, slots=1)


def test_a_fault_of_what_nobody_wants_is_not_tried_again() -> None:
    async def scenario(books: Books) -> None:
        [task] = books.give("a")
        await until(lambda: books.slots[0].is_holding("a"))
        books.crew.cancel(task)
        books.slots[0].finish("sandbox")  # before it has heard of the cancellation
        assert books.done == {"a": None}
        assert books.begun == ["a"]

    run(scenario, slots=1)


def test_an_answer_that_was_under_way_when_it_was_cancelled_is_an_answer() -> None:
    async def scenario(books: Books) -> None:
        [task] = books.give("a")
        await until(lambda: books.slots[0].is_holding("a"))
        books.crew.cancel(task)
        books.slots[0].finish("WA")
        answer = books.done["a"]
        assert answer is not None
        assert answer.head["verdict"] == "WA"

    run(scenario, slots=1)
