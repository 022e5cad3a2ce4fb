"""Tasks of the slot pool, and the line in which they wait."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from sandbox_service.grading.suites import Suite
from sandbox_service.slots.process import SlotProcess

PRIORITIES = 3  # 0 goes first
NORMAL = 1
FIRST_TURN_SECONDS = 0.25  # a task runs for so long before others may take its slot
TURN_SECONDS = 1.0  # the same after a pause: going on costs another compilation


@dataclass(eq=False, slots=True)
class Task:
    """One submission on its way through a slot. Times are monotonic seconds.

    `alone`: no other task may run at the same time. `priority`: 0 goes first. `given_at`: when a slot got it, or the
    pool while no slot has it. `progress`: what the slot that paused it reported; empty if it was not begun or not
    paused. `memory_bytes`: of its boxes, counted while it runs; set by the pool. `shown_id`: the id in the answer;
    empty: `id`. `has_default_memory`: its body is known to say nothing about memory, so that nobody has to search it.
    """

    id: str
    body: bytes
    suite: Suite
    tests: int
    submitted_at: float = field(default_factory=time.monotonic)
    attempts: int = 0
    alone: bool = False
    priority: int = NORMAL
    key: int = 0
    given_at: float = 0.0
    slot: SlotProcess | None = field(default=None, repr=False)
    is_cancelled: bool = False
    progress: bytes = b""
    is_asked_back: bool = False
    memory_bytes: int = 0
    shown_id: str = ""
    has_default_memory: bool = False

    @property
    def can_pause(self) -> bool:
        """Return whether a slot may hand it back before its end. A slot pauses between tests only."""
        return self.tests > 1 and not self.alone

    @property
    def turn_seconds(self) -> float:
        """Return how long it may keep a slot that other tasks could use."""
        return TURN_SECONDS if self.progress else FIRST_TURN_SECONDS


class TaskLine:
    """Tasks by priority, and within a priority in order of arrival. Tasks that run alone go before all others.

    Attributes:
        count: How many there are; an attribute, since the pool asks many times for each task.
    """

    def __init__(self) -> None:
        self._alone: deque[Task] = deque()
        self._lines: list[deque[Task]] = [self._alone, *(deque() for _ in range(PRIORITIES))]
        self.count = 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Task]:
        return itertools.chain.from_iterable(self._lines)

    @property
    def head(self) -> Task | None:
        """Return the task that goes next."""
        if self.count:
            for line in self._lines:
                if line:
                    return line[0]
        return None

    def append(self, task: Task) -> None:
        """Add a task behind all of its priority."""
        self._of(task).append(task)
        self.count += 1

    def appendleft(self, task: Task) -> None:
        """Add a task before all of its priority."""
        self._of(task).appendleft(task)
        self.count += 1

    def remove(self, task: Task) -> None:
        """Remove a task. Raises ValueError if it is not in the line."""
        self._of(task).remove(task)
        self.count -= 1

    def clear(self) -> list[Task]:
        """Remove all tasks and return them in order."""
        tasks = list(self)
        for line in self._lines:
            line.clear()
        self.count = 0
        return tasks

    def _of(self, task: Task) -> deque[Task]:
        return self._alone if task.alone else self._lines[1 + task.priority]
