"""The slots of one machine, and what they were given to do.

A task is in one of three places: waiting here, in a slot's hands, or handed back to the owner with its answer. A slot
that dies gives back what it held, and another tries; a task that takes three slots with it is given up as our fault.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sandbox_service.answers import Answer, fault
from sandbox_service.slots import SlotFactory, SlotProcess
from sandbox_service.suites import Suite

MOST_ATTEMPTS = 3
RETRIED = frozenset({"sandbox", "jail_unsafe", "grader_error"})


@dataclass(eq=False)
class Task:
    """One submission on its way through a slot. `alone`: nothing else may run beside it."""

    id: str
    body: bytes
    suite: Suite
    tests: int
    taken: float = field(default_factory=time.monotonic)  # monotonic
    attempts: int = 0
    alone: bool = False
    key: int = 0
    given: float = 0.0
    slot: SlotProcess | None = field(default=None, repr=False)
    unwanted: bool = False


class Owner(Protocol):
    """Who gives tasks to a crew, and what it is told. All are called in the event loop."""

    def task_begun(self, task: Task) -> None:
        """A slot has it now."""

    def task_done(self, task: Task, answer: Answer | None) -> None:
        """The grade; None: it was cancelled."""

    def crew_idle(self) -> None:
        """A slot has nothing to do."""

    def crew_failed(self) -> None:
        """A slot cannot grade."""


class Crew:
    """Works off tasks in the order in which they are given."""

    def __init__(self, make_slot: SlotFactory, slots: int, owner: Owner) -> None:
        self._owner = owner
        self._keys = itertools.count(1)
        self._waiting: deque[Task] = deque()
        self._running: dict[int, Task] = {}
        self._slots = [make_slot(index, self) for index in range(slots)]

    def give(self, task: Task) -> None:
        """One task more."""
        task.key = next(self._keys)
        self._waiting.append(task)
        self._dispatch()

    def cancel(self, task: Task) -> None:
        """Have it not done: at once if it waits, after the test that is running if a slot has it."""
        task.unwanted = True
        if task.slot is not None:
            task.slot.cancel(task.key)
        else:
            self._waiting.remove(task)
            self._owner.task_done(task, None)
            self._dispatch()  # others may have waited for it, if it was to be alone

    def take_back(self) -> list[Task]:
        """All tasks that no slot has begun; they are the owner's again."""
        waiting = list(self._waiting)
        self._waiting.clear()
        return waiting

    @property
    def slots(self) -> Sequence[SlotProcess]:
        """The slots, for status, metrics and tests."""
        return self._slots

    @property
    def idle(self) -> int:
        """How many slots could begin something now that is not here yet."""
        return max(0, sum(slot.free for slot in self._slots) - len(self._waiting))

    @property
    def busy(self) -> int:
        """How many slots have something in hand."""
        return len(self._running)

    @property
    def held(self) -> int:
        """How many tasks are here, begun or not."""
        return len(self._waiting) + len(self._running)

    @property
    def ready(self) -> int:
        """How many slots can grade."""
        return sum(slot.ready for slot in self._slots)

    def reasons(self) -> list[str]:
        """Why no slot can grade; empty if one can."""
        return [] if self.ready else [f"slot {slot.index}: {slot.reason}" for slot in self._slots]

    def unusable_seconds(self) -> float | None:
        """For how long every slot has failed; None if one works, or has not yet been tried."""
        latest = 0.0
        for slot in self._slots:
            if slot.failed_since is None:
                return None
            latest = max(latest, slot.failed_since)
        return time.monotonic() - latest

    def languages(self) -> list[str]:
        """What the slots' interpreters call themselves."""
        return sorted({slot.language for slot in self._slots if slot.language})

    async def close(self) -> None:
        """End the slots and their jails."""
        await asyncio.gather(*(slot.close() for slot in self._slots))

    # --- what the slots call

    def slot_free(self) -> None:
        """See slots.Owner."""
        self._dispatch()
        if self.idle:
            self._owner.crew_idle()

    def slot_done(self, key: int, grade: bytes | None) -> None:
        """See slots.Owner."""
        task = self._let_go(key)
        if grade is None:
            task.attempts -= 1
            self._owner.task_done(task, None)
            return
        answer = Answer(grade)
        head = answer.head
        if head["failure_kind"] in RETRIED and task.attempts < MOST_ATTEMPTS:
            self._again(task)
        else:
            head["id"] = task.id
            head["grader"]["attempts"] = task.attempts
            head["timing"]["queued_seconds"] = round(task.given - task.taken, 6)
            self._owner.task_done(task, answer.under(head))

    def slot_lost(self, key: int) -> None:
        """See slots.Owner: try elsewhere, unless this task has taken too many with it."""
        task = self._let_go(key)
        if task.attempts < MOST_ATTEMPTS:
            self._again(task)
        else:
            reason = f"{task.attempts} grading processes ended while they had this submission"
            self._owner.task_done(task, fault(task.id, task.tests, "worker_lost", reason, task.attempts))
        self._dispatch()  # one that is to be alone may have waited for its end

    def slot_failed(self) -> None:
        """See slots.Owner."""
        self._owner.crew_failed()

    def _let_go(self, key: int) -> Task:
        task = self._running.pop(key)
        task.slot = None
        return task

    def _again(self, task: Task) -> None:
        """Before all others, if anybody still wants it."""
        if task.unwanted:
            self._owner.task_done(task, None)
        else:
            self._waiting.appendleft(task)
            self._dispatch()

    def _dispatch(self) -> None:
        """Give waiting tasks to free slots, in order."""
        for slot in self._slots:
            if not self._waiting or not self._may_begin(self._waiting[0]):
                return
            if slot.free:
                self._begin(self._waiting.popleft(), slot)

    def _may_begin(self, task: Task) -> bool:
        if task.alone:
            return not self._running
        return not any(running.alone for running in self._running.values())

    def _begin(self, task: Task, slot: SlotProcess) -> None:
        task.slot = slot
        task.attempts += 1
        task.given = time.monotonic()
        self._running[task.key] = task
        self._owner.task_begun(task)
        slot.give(task.key, task.suite, task.body)
