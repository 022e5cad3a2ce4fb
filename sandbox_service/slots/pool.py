"""The slots of one machine: starts tasks in them, pauses long ones for others, retries those that failed.

A task is in one of four places: waiting here, running in a slot, paused here with its progress, or returned to the
owner with its answer. When a slot ends, its task goes on in another slot from where it began there; grading/retries.py
says how often.

No task keeps a slot for longer than one test. A task that has had its turn is paused when another could run, and goes
on later in any slot. See docs/decisions/0031.

What the boxes of the tasks that run may use (slots/memory.py) is together at most the memory of the machine. A task
that does not fit beside the others waits for them, and all behind it wait as well, so that it is not overtaken for
ever. One that does not fit at all runs alone. See docs/decisions/0068 and 0164.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from typing import Protocol

from sandbox_service.grading.encoded_grade import EncodedGrade, fault
from sandbox_service.grading.retries import may_start_again
from sandbox_service.schema import FailureKind
from sandbox_service.slots.memory import MemoryNeeds
from sandbox_service.slots.process import SlotFactory, SlotProcess
from sandbox_service.slots.tasks import FIRST_TURN_SECONDS, PRIORITIES, Task, TaskLine

LOOK_SECONDS = 0.1  # between two checks for tasks that have had their turn
MOST_PAUSED = 16  # tasks for each slot: with more, new ones get a smaller share of the time
SHARE_OF_NEW, SMALL_SHARE_OF_NEW = 1.0, 0.1  # seconds of new tasks for a second of paused ones
MOST_CREDIT_SECONDS = 10.0
MOST_IDLE_SECONDS = 0.05  # a slot waits so long for a task of its owner while others are paused
UNBOUNDED_BYTES = 1 << 60


class PoolOwner(Protocol):
    """Gives tasks to a pool, and is called by it in the event loop."""

    def task_begun(self, task: Task) -> None:
        """Handle that a slot has started the task."""

    def task_done(self, task: Task, answer: EncodedGrade | None) -> None:
        """Handle the grade of a task; None if it was cancelled."""

    def most_urgent(self) -> int | None:
        """Return the priority of the task that the owner would give next; None if it has none at once."""

    def pool_idle(self) -> None:
        """Give tasks: a slot is idle, or should begin a task of the owner's instead of a paused one.

        An owner that gives them later says so by `most_urgent`, and calls `go_on` if there are none.
        """

    def pool_failed(self) -> None:
        """Handle that a slot cannot grade."""


class SlotPool:
    """Runs tasks by priority, and within a priority in the order in which they are given."""

    def __init__(
        self, make_slot: SlotFactory, slots: int, owner: PoolOwner, memory_bytes: int = UNBOUNDED_BYTES
    ) -> None:
        """Start the slots.

        Args:
            make_slot: starts a slot process.
            slots: how many.
            owner: gives tasks and receives answers.
            memory_bytes: what the programs of all slots may use together.
        """
        self.memory_bytes = memory_bytes
        self._used_bytes = 0
        self._needs = MemoryNeeds()
        self._owner = owner
        self._keys = itertools.count(1)
        self._waiting = TaskLine()
        self._paused = TaskLine()
        self._running: dict[int, Task] = {}
        self._last_ended: SlotProcess | None = None  # the slot of the task that ended last
        self._runs_alone = False  # the only task in `_running` must stay that
        self._credit = 0.0  # seconds that new tasks may take before paused ones go on
        self._is_checking = False
        self._going_on: asyncio.TimerHandle | None = None  # while a slot waits for a task of the owner
        self._slots = [make_slot(index, self) for index in range(slots)]

    def give(self, task: Task) -> None:
        """Add a task."""
        task.key = next(self._keys)
        needs = self._needs
        needed = needs.of_default(task.suite) if task.has_default_memory else needs.of(task.body, task.suite)
        task.memory_bytes = min(needed, self.memory_bytes)
        if self._waiting.count or self._paused.count:
            self._wait(task)
            self._dispatch()
        elif not self._begins(task):
            self._wait(task)

    def _wait(self, task: Task) -> None:
        task.given_at = time.monotonic()
        self._waiting.append(task)

    def _begins(self, task: Task) -> bool:
        """Begin a task that is the only one here, if it may. Return whether it has begun."""
        if self._used_bytes + task.memory_bytes <= self.memory_bytes and self._may_begin(task):
            slot = self._free_slot()
            if slot is not None:
                self._begin(task, slot)
                return True
        return False

    def _free_slot(self) -> SlotProcess | None:
        """Return a free slot, first the one that became free last: a machine may have a hundred."""
        last = self._last_ended
        if last is not None and last.free:
            return last
        return next((slot for slot in self._slots if slot.free), None)

    def cancel(self, task: Task) -> None:
        """Cancel a task: at once if it waits, after the test that is running if a slot has it."""
        task.is_cancelled = True
        if task.slot is not None:
            task.slot.cancel(task.key)
        else:
            (self._paused if task.progress and task not in self._waiting else self._waiting).remove(task)
            self._owner.task_done(task, None)
            self._dispatch()  # a task that runs alone may have held up others

    def take_back(self) -> list[Task]:
        """Remove and return all tasks that no slot has. The progress of paused ones is lost."""
        return [*self._waiting.clear(), *self._paused.clear()]

    def take_back_new(self, older_seconds: float = 0.0) -> list[Task]:
        """Remove and return the tasks that were not begun and have waited here for so many seconds."""
        latest = time.monotonic() - older_seconds
        found = [task for task in self._waiting if task.given_at <= latest and not task.attempts and not task.alone]
        for task in found:
            self._waiting.remove(task)
        return found

    @property
    def slots(self) -> Sequence[SlotProcess]:
        """Return the slots, for status, metrics and tests."""
        return self._slots

    @property
    def idle(self) -> int:
        """Return how many slots could begin a task now that is not here yet."""
        without_task = len(self._slots) - len(self._running)
        waiting = self._waiting.count
        if without_task <= waiting:
            return 0
        if without_task == 1 and self._last_ended is not None and self._last_ended.free:
            return 1
        free = 0
        for slot in self._slots:
            if slot.free:
                free += 1
        return max(0, free - waiting)

    @property
    def begins(self) -> int:
        """Return how many tasks that are not here yet would begin as soon as they are given."""
        return 0 if len(self._waiting) or len(self._paused) or self._runs_alone else self.idle

    @property
    def busy(self) -> int:
        """Return how many slots run a task."""
        return len(self._running)

    @property
    def held(self) -> int:
        """Return how many tasks are here, without paused ones."""
        return len(self._waiting) + len(self._running)

    @property
    def paused(self) -> int:
        """Return how many tasks were begun and wait to go on."""
        return len(self._paused)

    @property
    def ready(self) -> int:
        """Return how many slots can grade."""
        return sum(slot.ready for slot in self._slots)

    @property
    def least_urgent(self) -> int:
        """Return the priority of the least urgent running task; -1 if none runs."""
        return max((task.priority for task in self._running.values() if not task.alone), default=-1)

    @property
    def slots_to_share(self) -> int:
        """Return how many slots could begin a task that is not here yet after the test that is running."""
        latest = time.monotonic() - FIRST_TURN_SECONDS
        long = sum(task.can_pause and task.given_at <= latest for task in self._running.values())
        return max(0, long - len(self._waiting))

    @property
    def most_urgent_waiting(self) -> int:
        """Return the priority of the next waiting task; `PRIORITIES` if none waits."""
        return min((task.priority for task in self._waiting), default=PRIORITIES)

    def reasons(self) -> list[str]:
        """Return why no slot can grade; empty if one can."""
        return [] if self.ready else [f"slot {slot.index}: {slot.reason}" for slot in self._slots]

    def unusable_seconds(self) -> float | None:
        """Return for how long all slots have failed; None if one works or has not started yet."""
        latest = 0.0
        for slot in self._slots:
            if slot.failed_since is None:
                return None
            latest = max(latest, slot.failed_since)
        return time.monotonic() - latest

    def languages(self) -> list[str]:
        """Return the names of the slots' interpreters."""
        return sorted({slot.language for slot in self._slots if slot.language})

    async def close(self) -> None:
        """Stop the slots and their jails."""
        await asyncio.gather(*(slot.close() for slot in self._slots))

    # --- called by the slots

    def slot_free(self) -> None:
        """See SlotOwner."""
        if self._waiting.count or self._paused.count:
            self._dispatch()
            if not self.idle:
                return
        self._owner.pool_idle()
        if not self._paused.count or not self.idle:
            return
        if self._owner.most_urgent() is None:
            self.go_on()
        elif self._going_on is None:
            self._going_on = asyncio.get_running_loop().call_later(MOST_IDLE_SECONDS, self.go_on)

    def go_on(self) -> None:
        """Start paused tasks in idle slots: the owner has no task that goes before them."""
        self._wait_no_longer()
        self._dispatch(nothing_new=True)

    def _wait_no_longer(self) -> None:
        """Drop the time by which paused tasks go on: no slot waits any more, and the next one has its own time."""
        if self._going_on is not None:
            self._going_on.cancel()
            self._going_on = None

    def slot_done(self, key: int, grade: bytes | None) -> None:
        """See SlotOwner."""
        now = time.monotonic()
        task = self._end_run(key, now)
        if grade is None:
            task.attempts -= 1
            self._owner.task_done(task, None)
            return
        answer = EncodedGrade(grade)
        head = answer.head
        if head["failure_kind"] and may_start_again(head["failure_kind"], task.attempts):
            self._retry(task)
        else:
            head["id"] = task.shown_id or task.id
            head["grader"]["attempts"] = task.attempts
            waited = now - task.submitted_at - head["timing"]["graded_seconds"]
            head["timing"]["queued_seconds"] = round(max(waited, 0.0), 6)
            self._owner.task_done(task, answer.under(head))

    def slot_paused(self, key: int, progress: bytes) -> None:
        """See SlotOwner. Going on after a pause is no further attempt."""
        task = self._end_run(key, time.monotonic())
        task.attempts -= 1
        if task.is_cancelled:
            self._owner.task_done(task, None)
        else:
            task.progress = progress
            self._paused.append(task)

    def slot_lost(self, key: int) -> None:
        """See SlotOwner; retry in another slot, up to the most attempts."""
        task = self._end_run(key, time.monotonic())
        if may_start_again(FailureKind.WORKER_LOST, task.attempts):
            self._retry(task)
        else:
            reason = f"{task.attempts} grading processes ended while they had this submission"
            shown = task.shown_id or task.id
            self._owner.task_done(task, fault(shown, task.tests, FailureKind.WORKER_LOST, reason, task.attempts))
        self._dispatch()  # a task that runs alone may have waited for its end

    def slot_failed(self) -> None:
        """See SlotOwner."""
        self._owner.pool_failed()

    def _end_run(self, key: int, now: float) -> Task:
        task = self._running.pop(key)
        self._last_ended, task.slot = task.slot, None
        self._used_bytes -= task.memory_bytes
        self._runs_alone = False
        self._update_credit(task, now - task.given_at)
        return task

    def _update_credit(self, task: Task, seconds: float) -> None:
        """Count the time that new and paused tasks have had of the slots, while both want them."""
        if task.progress or task.is_asked_back:
            is_few = len(self._paused) < MOST_PAUSED * len(self._slots)
            share = SHARE_OF_NEW if is_few else SMALL_SHARE_OF_NEW
            self._credit = min(self._credit + share * seconds, MOST_CREDIT_SECONDS)
        elif self._paused.count:
            self._credit -= seconds
        else:
            self._credit = 0.0

    def _retry(self, task: Task) -> None:
        """Start a task again before all others, unless it was cancelled."""
        if task.is_cancelled:
            self._owner.task_done(task, None)
        else:
            self._waiting.appendleft(task)
            self._dispatch()

    # --- the next task

    def _dispatch(self, *, nothing_new: bool = False) -> None:
        """Start tasks in free slots, in order. `nothing_new`: the owner has none."""
        if not self._waiting.count and not self._paused.count:
            return
        for slot in self._slots:
            if slot.free:
                task = self._next(nothing_new=nothing_new)
                if task is None:
                    return
                self._begin(task, slot)

    def _next(self, *, nothing_new: bool) -> Task | None:
        """Take the next task; None if none may run, or if the owner has one that goes first."""
        new, old = self._waiting.head, self._paused.head
        if not self._may_begin(new):
            return None
        urgent = self._most_urgent_new(nothing_new=nothing_new)
        if old is not None and (urgent is None or not self._is_before(urgent, old)):
            return self._taken(old, self._paused)
        return self._taken(new, self._waiting) if new is not None else None

    def _taken(self, task: Task, line: TaskLine) -> Task | None:
        """Remove a task from its line; return None if its memory is not free."""
        if self._used_bytes + task.memory_bytes > self.memory_bytes:
            return None
        line.remove(task)
        return task

    def _most_urgent_new(self, *, nothing_new: bool = False) -> int | None:
        """Return the priority of the next new task, here or with the owner."""
        new = self._waiting.head
        here = None if new is None else -1 if new.alone else new.priority
        there = None if nothing_new else self._owner.most_urgent()
        return min(here, there) if here is not None and there is not None else there if here is None else here

    def _is_before(self, urgent: int, old: Task, more_credit: float = 0.0) -> bool:
        """Return whether a new task of that priority goes before a paused one."""
        return urgent < old.priority or (urgent == old.priority and self._credit + more_credit > 0)

    def _may_begin(self, task: Task | None) -> bool:
        if task is not None and task.alone:
            return not self._running
        return not self._runs_alone

    def _begin(self, task: Task, slot: SlotProcess) -> None:
        task.slot = slot
        task.attempts += 1
        task.given_at = time.monotonic()
        task.is_asked_back = False
        self._running[task.key] = task
        self._runs_alone = task.alone
        self._used_bytes += task.memory_bytes
        self._owner.task_begun(task)
        slot.give(task.key, task.suite, task.body, task.progress)
        if self._going_on is not None and not any(slot.free for slot in self._slots):
            self._wait_no_longer()
        if not self._is_checking:
            self._check_later()

    # --- turns

    def _check_later(self) -> None:
        self._is_checking = True
        asyncio.get_running_loop().call_later(LOOK_SECONDS, self._check_turns)

    def _check_turns(self) -> None:
        """Pause tasks that have had their turn, if others could run."""
        self._is_checking = False
        now = time.monotonic()
        for task in self._running.values():
            if not task.is_asked_back and task.slot is not None and self._must_pause(task, now - task.given_at):
                task.is_asked_back = True
                task.slot.pause(task.key)
        if self._running:
            self._check_later()

    def _must_pause(self, task: Task, seconds: float) -> bool:
        if not task.can_pause:
            return False
        urgent = self._most_urgent_new()
        if urgent is not None and urgent < task.priority:
            return True
        if seconds < task.turn_seconds:
            return False
        old = self._paused.head
        if old is not None and old.priority <= task.priority:
            return True
        return urgent == task.priority and self._credit + seconds > 0
