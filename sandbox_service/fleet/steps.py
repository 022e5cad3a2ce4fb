"""Sends the steps of a worker (starts, answers, submissions given back) to the ledger, in order and in batches."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from redis.exceptions import RedisError

from sandbox_service.event_loop import wait_event
from sandbox_service.fleet.ledger.entries import Step
from sandbox_service.fleet.ledger.intervals import gathering_seconds
from sandbox_service.fleet.ledger.ledger import Ledger

RETRY_SECONDS = 0.25
MOST_GATHERING_SECONDS = 0.2  # a start is known to the ledger so much later, see decision 13
STEPS_OF_ONE = 2  # submission: its start and its answer
SHARE_TO_MEET = 0.3  # last part of a pause in which the next step ends it: one is likely to come there
SHORT_SECONDS = 0.01  # a shorter pause is not cut short
NEVER = float("inf")


class StepSender:
    """Batches steps. A step that comes near the end of a pause ends it: a timer would cost as much as a call."""

    def __init__(self, ledger: Ledger, name: Callable[[], str]) -> None:
        """Create a sender for the worker that `name` returns; the name changes when the worker registers anew."""
        self._ledger = ledger
        self._name = name
        self._steps: list[Step] = []
        self._sending = asyncio.Lock()
        self._has_steps = asyncio.Event()
        self._is_due = asyncio.Event()
        self._pause = 0.0
        self._due_from = self._due_by = 0.0  # the next step from then on sends all; by then they are sent anyhow
        self._age = NEVER  # of the youngest submission whose answer is not sent yet

    @property
    def ids(self) -> set[str]:
        """Return the ids of the submissions whose steps are not sent yet."""
        return {step.id for step in self._steps}

    def add(self, step: Step) -> None:
        """Send a step with the next batch."""
        self._steps.append(step)
        self._has_steps.set()
        if time.monotonic() >= self._due_from:
            self._is_due.set()

    def note_age(self, seconds: float) -> None:
        """Note the age in seconds of a submission whose answer was added. The pause depends on the youngest."""
        self._age = min(self._age, seconds)

    def send_now(self) -> None:
        """End the pause."""
        self._is_due.set()

    def send_last(self) -> None:
        """End a pause that is worth it: no more steps will come soon."""
        if self._pause > SHORT_SECONDS:
            self._is_due.set()

    def take(self) -> list[Step]:
        """Remove and return the steps that are not sent yet."""
        steps, self._steps = self._steps, []
        return steps

    async def run(self) -> None:
        """Send steps until this is cancelled."""
        while True:
            await self._has_steps.wait()
            await wait_event(self._is_due, self._due_by - time.monotonic())
            self._has_steps.clear()
            self._is_due.clear()
            self._due_from = NEVER
            async with self._sending:
                steps = self.take()
                age, self._age = self._age, NEVER
                await self._send(self._name(), steps)
            self._pause = gathering_seconds(len(steps), 0.0 if age == NEVER else age, MOST_GATHERING_SECONDS)
            self._due_by = time.monotonic() + self._pause
            self._due_from = self._due_by - self._pause * min(SHARE_TO_MEET, STEPS_OF_ONE / max(1, len(steps)))

    async def send_rest(self) -> None:
        """Send the steps that are not sent yet, once, after the batch that is on its way.

        A worker that left before that batch has arrived would give back what the batch answers.

        Raises:
            RedisError: Redis is away.
        """
        async with self._sending:
            await self._ledger.apply_steps(self._name(), self.take())

    async def _send(self, name: str, steps: Sequence[Step]) -> None:
        """Send steps, again while Redis is away. Under another name the worker does not hold their submissions."""
        while name == self._name():
            try:
                await self._ledger.apply_steps(name, steps)
            except (RedisError, OSError) as error:
                self._ledger.outage.failed(error)
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return
