"""The slot pool: order of tasks, retries, tasks that run alone, and pauses of long ones."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.schema import Limits
from sandbox_service.slots import pool, tasks
from sandbox_service.slots.pool import LOOK_SECONDS, MOST_PAUSED, UNBOUNDED_BYTES, SlotPool
from sandbox_service.slots.process import SlotOwner
from sandbox_service.slots.tasks import FIRST_TURN_SECONDS, Task
from tests.fakes import DIE, FakeSlot, Script, Tally, hold, made, suite_of, until
from tests.guards import HANG_GUARD_SECONDS


class RecordingOwner:
    """An owner that records the calls of its pool."""

    def __init__(self, script: Script, slots: int, memory_bytes: int = UNBOUNDED_BYTES) -> None:
        self.slots: list[FakeSlot] = []
        self.tally = Tally()
        self.begun: list[str] = []
        self.done: dict[str, EncodedGrade | None] = {}
        self.most_at_once = 0
        self.announced: int | None = None  # priority of a task that is given later
        self._script = script
        self.pool = SlotPool(self._make, slots, self, memory_bytes)

    def _make(self, index: int, owner: SlotOwner) -> Any:
        self.slots.append(FakeSlot(index, owner, self._script, self.tally))
        return self.slots[-1]

    def give(self, *names: str, alone: bool = False, **fields: Any) -> list[Task]:
        """Give tasks with these names, and other fields of their submissions."""
        jobs = [made(name, suite=suite_of(2), **fields) for name in names]
        tasks = [Task(job.id, job.body, job.suite, job.tests, alone=alone) for job in jobs]
        for task in tasks:
            self.pool.give(task)
        return tasks

    def task_begun(self, task: Task) -> None:
        self.begun.append(task.id)
        self.most_at_once = max(self.most_at_once, self.pool.busy)

    def task_done(self, task: Task, answer: EncodedGrade | None) -> None:
        assert task.id not in self.done, "answered twice"
        self.done[task.id] = answer

    def most_urgent(self) -> int | None:
        """What a test announces; usually all tasks were given."""
        return self.announced

    def pool_idle(self) -> None:
        """Ignored: all tasks were given."""

    def pool_failed(self) -> None:
        """Ignored."""

    def running(self) -> list[str]:
        return sorted(slot.held.submission.code or "" for slot in self.slots if slot.held)

    async def finish(self, name: str) -> None:
        """Let the slot that holds a task answer it."""
        await until(lambda: any(slot.is_holding(name) for slot in self.slots))
        next(slot for slot in self.slots if slot.is_holding(name)).finish()


def run(
    scenario: Callable[[RecordingOwner], Awaitable[None]],
    script: Script = hold,
    slots: int = 2,
    memory_bytes: int = UNBOUNDED_BYTES,
) -> None:
    async def body() -> None:
        owner = RecordingOwner(script, slots, memory_bytes)
        await asyncio.wait_for(scenario(owner), HANG_GUARD_SECONDS)
        assert owner.pool.held == owner.pool.busy == 0
        await owner.pool.close()
        assert all(slot.closed for slot in owner.slots)

    asyncio.run(body())


def test_an_answer_gets_the_id_the_attempts_and_the_wait_that_slots_do_not_know() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("a")
        await until(lambda: "a" in owner.done)
        answer = owner.done["a"]
        assert answer is not None
        grade = answer.grade()
        assert (grade.id, grade.verdict, grade.grader.attempts) == ("a", "AC", 2)
        assert grade.timing.queued_seconds >= 0

    run(scenario, lambda _, time: DIE if time == 1 else "AC")


def test_it_says_how_much_it_holds_and_how_much_more_it_could_begin() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        assert (owner.pool.idle, owner.pool.busy, owner.pool.held) == (2, 0, 0)
        owner.give("a")
        assert (owner.pool.idle, owner.pool.busy, owner.pool.held) == (1, 1, 1)
        owner.give("b", "c")
        assert (owner.pool.idle, owner.pool.busy, owner.pool.held) == (0, 2, 3)
        for name in "abc":
            await owner.finish(name)

    run(scenario)


def test_a_task_begins_in_the_slot_that_became_free_last() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        tasks = dict(zip("abc", owner.give("a", "b", "c"), strict=True))
        slots = {name: task.slot for name, task in tasks.items()}
        await owner.finish("a")
        assert owner.pool.idle == 1
        await owner.finish("c")
        assert owner.pool.idle == 2
        for name, freed in (("d", "c"), ("e", "a")):
            [task] = owner.give(name)
            assert task.slot is slots[freed]
        assert owner.pool.idle == 0
        for name in "bde":
            await owner.finish(name)

    run(scenario, slots=3)


def test_what_waits_can_be_taken_back_and_what_runs_cannot() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("a", "b", "c", "d")
        assert [task.id for task in owner.pool.take_back()] == ["c", "d"]
        for name in "ab":
            await owner.finish(name)
        assert list(owner.done) == ["a", "b"]

    run(scenario)


# --- alone


def test_what_is_to_be_alone_waits_until_nothing_runs() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("a", "b")
        owner.give("alone", alone=True)
        await owner.finish("a")
        assert owner.running() == ["b"]
        await owner.finish("b")
        assert owner.running() == ["alone"]
        await owner.finish("alone")

    run(scenario)


def test_beside_what_is_alone_nothing_is_begun_and_after_it_everything() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("alone", alone=True)
        owner.give("a", "b", "c")
        await until(lambda: any(slot.is_holding("alone") for slot in owner.slots))
        assert owner.running() == ["alone"]
        await owner.finish("alone")
        assert owner.running() == ["a", "b"]
        for name in "abc":
            await owner.finish(name)
        assert owner.begun == ["alone", "a", "b", "c"]

    run(scenario)


def test_several_that_are_to_be_alone_run_one_after_another() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("x", "y", "z", alone=True)
        for name in "xyz":
            assert owner.running() == [name]
            await owner.finish(name)
        assert owner.most_at_once == 1

    run(scenario, slots=3)


def test_one_that_is_alone_and_loses_its_slot_is_tried_again_alone() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("alone", alone=True)
        owner.give("a", "b")
        await until(lambda: owner.begun.count("alone") == 2)
        assert owner.running() == ["alone"]
        await owner.finish("alone")
        for name in "ab":
            await owner.finish(name)
        assert owner.begun == ["alone", "alone", "a", "b"]

    run(scenario, lambda submission, time: DIE if submission.code == "alone" and time == 1 else "hold")


def test_when_one_that_waits_to_be_alone_is_cancelled_the_others_need_not_wait_for_it() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("a")
        [alone] = owner.give("alone", alone=True)
        owner.give("b")
        assert owner.running() == ["a"]
        owner.pool.cancel(alone)
        assert owner.done == {"alone": None}
        assert owner.running() == ["a", "b"]
        for name in "ab":
            await owner.finish(name)

    run(scenario)


def test_one_that_is_to_be_alone_need_not_wait_for_a_dead_slot_to_come_back() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        [task] = owner.give("deadly")
        task.attempts = 3  # its last
        owner.give("alone", alone=True)
        await until(lambda: owner.slots[0].is_holding("deadly"))
        owner.slots[0].die()
        assert owner.done["deadly"] is not None
        assert owner.running() == ["alone"]
        await owner.finish("alone")

    run(scenario)


# --- cancellation


def test_what_waits_is_cancelled_at_once_and_what_runs_when_its_slot_says_so() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        running, waiting = owner.give("running", "waiting")
        await until(lambda: owner.slots[0].is_holding("running"))
        owner.pool.cancel(waiting)
        assert owner.done == {"waiting": None}
        owner.pool.cancel(running)
        assert owner.done == {"waiting": None}
        await until(lambda: "running" in owner.done)
        assert owner.done["running"] is None
        assert owner.begun == ["running"]

    run(scenario, slots=1)


def test_a_fault_of_what_nobody_wants_is_not_tried_again() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        [task] = owner.give("a")
        await until(lambda: owner.slots[0].is_holding("a"))
        owner.pool.cancel(task)
        owner.slots[0].finish("sandbox")  # before it has heard of the cancellation
        assert owner.done == {"a": None}
        assert owner.begun == ["a"]

    run(scenario, slots=1)


def test_an_answer_that_was_under_way_when_it_was_cancelled_is_an_answer() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        [task] = owner.give("a")
        await until(lambda: owner.slots[0].is_holding("a"))
        owner.pool.cancel(task)
        owner.slots[0].finish("WA")
        answer = owner.done["a"]
        assert answer is not None
        assert answer.head["verdict"] == "WA"

    run(scenario, slots=1)


# --- what runs for long


async def until_asked_back(slot: FakeSlot) -> None:
    await until(lambda: slot.is_asked_back)


def give(owner: RecordingOwner, name: str, priority: int) -> Task:
    job = made(name, suite=suite_of(2))
    task = Task(job.id, job.body, job.suite, job.tests, priority=priority)
    owner.pool.give(task)
    return task


def test_what_runs_for_long_gives_way_to_what_waits_and_goes_on_after_it() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("long", "short")
        [slot] = owner.slots
        await until_asked_back(slot)
        slot.pause_now()
        assert owner.running() == ["short"]
        assert (owner.pool.paused, owner.pool.held) == (1, 1)
        await owner.finish("short")
        assert owner.running() == ["long"]
        assert slot.progress == b"+"
        await owner.finish("long")
        answer = owner.done["long"]
        assert answer is not None
        assert answer.head["grader"]["attempts"] == 1
        assert owner.begun == ["long", "short", "long"]

    run(scenario, slots=1)


def test_what_was_put_aside_goes_on_in_whichever_slot_is_free() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("long", "other", "short")
        first, second = owner.slots
        await until_asked_back(first)
        first.pause_now()
        assert owner.running() == ["other", "short"]
        await owner.finish("other")
        assert second.is_holding("long") or second.held is not None
        assert second.progress == b"+"
        for name in ("short", "long"):
            await owner.finish(name)

    run(scenario)


def test_a_single_test_is_not_asked_back() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        job = made("single", suite=suite_of(1))
        owner.pool.give(Task(job.id, job.body, job.suite, job.tests))
        owner.give("short")
        await asyncio.sleep(FIRST_TURN_SECONDS + 3 * LOOK_SECONDS)
        assert not owner.slots[0].is_asked_back
        for name in ("single", "short"):
            await owner.finish(name)

    run(scenario, slots=1)


def test_what_runs_for_long_goes_on_while_nothing_waits() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("long")
        await asyncio.sleep(FIRST_TURN_SECONDS + 3 * LOOK_SECONDS)
        assert not owner.slots[0].is_asked_back
        await owner.finish("long")

    run(scenario, slots=1)


def test_what_is_urgent_does_not_wait_for_the_turn_to_end_and_what_is_less_so_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(owner: RecordingOwner) -> None:
        for module in (pool, tasks):
            monkeypatch.setattr(module, "FIRST_TURN_SECONDS", 3600.0)
        give(owner, "normal", 1)
        give(owner, "low", 2)
        give(owner, "high", 0)
        [slot] = owner.slots
        await until_asked_back(slot)
        monkeypatch.undo()
        slot.pause_now()
        assert owner.running() == ["high"]
        await asyncio.sleep(FIRST_TURN_SECONDS + 3 * LOOK_SECONDS)
        assert not slot.is_asked_back
        for name in ("high", "normal", "low"):
            await owner.finish(name)
        assert owner.begun == ["normal", "high", "normal", "low"]

    run(scenario, slots=1)


def test_those_put_aside_are_not_starved_by_what_is_new() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        [slot] = owner.slots
        owner.give("long", *(f"{number}" for number in range(120)))
        while "long" not in owner.done:
            await until(lambda: slot.is_holding())
            assert slot.held is not None
            if slot.held.submission.code != "long":
                await asyncio.sleep(0.02)
                slot.finish()
            elif owner.begun.count("long") > 2:
                slot.finish()
            else:
                await until_asked_back(slot)
                slot.pause_now()
        assert 2 < len(owner.done) < 110
        while slot.held is not None:
            await until(lambda: slot.is_holding())
            slot.finish()

    run(scenario, slots=1)


def test_a_slot_that_dies_takes_nothing_of_what_was_done_before() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("long", "deadly")
        [slot] = owner.slots
        await until_asked_back(slot)
        slot.pause_now()
        for _ in range(3):
            await until(lambda: slot.is_holding("deadly"))
            slot.die()
        await until(lambda: slot.is_holding("long"))
        assert slot.progress == b"+"
        slot.die()
        await until(lambda: slot.is_holding("long"))
        assert slot.progress == b"+"
        slot.finish()
        answers = {name: answer.head for name, answer in owner.done.items() if answer is not None}
        assert answers["deadly"]["failure_kind"] == "worker_lost"
        assert (answers["long"]["verdict"], answers["long"]["grader"]["attempts"]) == ("AC", 2)

    run(scenario, slots=1)


def test_what_was_put_aside_is_cancelled_at_once_and_can_be_taken_back() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        long, other, short = owner.give("long", "other", "short")
        [slot] = owner.slots
        await until_asked_back(slot)
        slot.pause_now()
        assert owner.running() == ["other"]
        owner.pool.cancel(long)
        assert owner.done == {"long": None}
        await until_asked_back(slot)
        slot.pause_now()
        assert [task.id for task in owner.pool.take_back()] == ["other"]
        await owner.finish("short")
        assert other.slot is short.slot is None

    run(scenario, slots=1)


def test_one_that_is_cancelled_while_it_is_asked_back_is_not_put_aside() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        [long, _] = owner.give("long", "short")
        [slot] = owner.slots
        await until_asked_back(slot)
        slot.is_deaf = True
        owner.pool.cancel(long)
        slot.pause_now()
        assert owner.done == {"long": None}
        await owner.finish("short")

    run(scenario, slots=1)


def test_one_that_is_to_be_alone_does_not_wait_for_more_than_a_test() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("long", "other")
        owner.give("alone", alone=True)
        for slot in owner.slots:
            await until_asked_back(slot)
        owner.slots[0].pause_now()
        assert owner.running() == ["other"]
        owner.slots[1].pause_now()
        assert owner.running() == ["alone"]
        await asyncio.sleep(FIRST_TURN_SECONDS + 3 * LOOK_SECONDS)
        assert not any(slot.is_asked_back for slot in owner.slots if slot.held)
        for name in ("alone", "long", "other"):
            await owner.finish(name)

    run(scenario)


def test_what_is_new_gets_a_small_share_when_much_is_put_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pool, tasks):
        monkeypatch.setattr(module, "FIRST_TURN_SECONDS", 0.05)
    monkeypatch.setattr(pool, "LOOK_SECONDS", 0.02)

    async def scenario(owner: RecordingOwner) -> None:
        names = [f"{number}" for number in range(40)]
        for name in names:
            give(owner, name, 1)
        [slot] = owner.slots
        end = time.monotonic() + 12
        while time.monotonic() < end and owner.pool.paused < MOST_PAUSED + 2:
            await until_asked_back(slot)
            slot.pause_now()
        assert MOST_PAUSED <= owner.pool.paused <= MOST_PAUSED + 2
        while len(owner.done) < len(names):
            await until(lambda: slot.is_holding())
            slot.finish()

    run(scenario, slots=1)


async def after_a_pause(owner: RecordingOwner) -> None:
    """Run a short task instead of a long one, which is paused then, and announce another short one."""
    owner.give("long", "short")
    [slot] = owner.slots
    await until_asked_back(slot)
    slot.pause_now()
    owner.announced = 1
    await owner.finish("short")


def test_a_slot_waits_for_a_task_that_its_owner_is_fetching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MOST_IDLE_SECONDS", HANG_GUARD_SECONDS)

    async def scenario(owner: RecordingOwner) -> None:
        await after_a_pause(owner)
        assert (owner.running(), owner.pool.paused) == ([], 1)
        owner.give("second")
        assert owner.running() == ["second"]
        await owner.finish("second")
        assert (owner.running(), owner.pool.paused) == ([], 1)
        owner.announced = None
        owner.pool.go_on()
        await owner.finish("long")
        assert owner.begun == ["long", "short", "second", "long"]

    run(scenario, slots=1)


def test_each_wait_of_a_slot_has_a_time_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of an earlier wait does not end a later one, in which the owner fetches another task."""
    monkeypatch.setattr(pool, "MOST_IDLE_SECONDS", HANG_GUARD_SECONDS)

    async def scenario(owner: RecordingOwner) -> None:
        waits: list[asyncio.TimerHandle] = []
        loop = asyncio.get_running_loop()
        call_later = loop.call_later

        def record(delay: float, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
            handle = call_later(delay, *arguments, **options)
            if delay == HANG_GUARD_SECONDS:
                waits.append(handle)
            return handle

        monkeypatch.setattr(loop, "call_later", record)
        await after_a_pause(owner)
        owner.give("second")
        await owner.finish("second")
        assert [each.cancelled() for each in waits] == [True, False]
        owner.announced = None
        owner.pool.go_on()
        await owner.finish("long")

    run(scenario, slots=1)


def test_a_slot_does_not_wait_for_ever() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        await after_a_pause(owner)
        await until(lambda: owner.running() == ["long"])
        await owner.finish("long")

    run(scenario, slots=1)


# --- memory


MIB = 1 << 20
SMALL, LARGE = Limits(memory_bytes=100 * MIB), Limits(memory_bytes=700 * MIB)


def test_a_task_that_does_not_fit_beside_the_others_waits_for_their_memory() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("first", limits=LARGE)
        owner.give("second", limits=LARGE)
        owner.give("small", limits=SMALL)  # behind it: the second one must not wait for ever
        await until(lambda: owner.running() == ["first"])
        assert owner.pool.idle == 0  # the free slot cannot begin anything
        await owner.finish("first")
        await until(lambda: owner.running() == ["second", "small"])
        await owner.finish("second")
        await owner.finish("small")

    run(scenario, slots=2, memory_bytes=1000 * MIB)


def test_tasks_that_fit_together_run_together() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("a", "b", "c", limits=SMALL)
        await until(lambda: owner.running() == ["a", "b", "c"])
        for name in "abc":
            await owner.finish(name)

    run(scenario, slots=3, memory_bytes=300 * MIB)


def test_a_task_that_never_fits_runs_alone() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("a", "b")  # of the default limit
        await until(lambda: owner.running() == ["a"])
        await owner.finish("a")
        await until(lambda: owner.running() == ["b"])
        await owner.finish("b")

    run(scenario, memory_bytes=300 * MIB)


def test_a_lost_slot_and_a_cancelled_task_give_their_memory_back() -> None:
    async def scenario(owner: RecordingOwner) -> None:
        owner.give("lost", limits=LARGE)
        [cancelled] = owner.give("cancelled", limits=LARGE)
        await until(lambda: owner.running() == ["lost"])
        owner.slots[0].die()
        await until(lambda: owner.running() == ["lost"])  # again, before the other
        await owner.finish("lost")
        await until(lambda: owner.running() == ["cancelled"])
        owner.pool.cancel(cancelled)
        await until(lambda: "cancelled" in owner.done)
        owner.give("last", limits=LARGE)
        await owner.finish("last")

    run(scenario, memory_bytes=1000 * MIB)
