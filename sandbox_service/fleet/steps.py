"""Sends the steps of a worker (starts, answers, submissions given back) to the ledger, in order and in batches.

A claim and a beat go along with them in the same call, which costs Redis as much as ten steps. A worker with few
submissions makes about one call for each. A claim is sent at once if a slot is idle, or would be before the next batch;
otherwise with the next batch. See docs/decisions/0080.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from redis.exceptions import RedisError

from sandbox_service.event_loop import wait_event
from sandbox_service.fleet.ledger.entries import (
    Beat,
    ClaimRequest,
    Elsewhere,
    Exchanged,
    Need,
    Step,
    UnknownWorkerError,
)
from sandbox_service.fleet.ledger.intervals import gathering_seconds
from sandbox_service.fleet.ledger.ledger import Ledger

RETRY_SECONDS = 0.25
MOST_GATHERING_SECONDS = 0.2  # a start is known to the ledger so much later, see decision 13
STEPS_OF_ONE = 2  # submission: its start and its answer
SHARE_TO_MEET = 0.3  # last part of a pause in which the next step ends it: one is likely to come there
SHORT_SECONDS = 0.01  # a shorter pause is not cut short
NEVER = float("inf")
NOTHING = Exchanged([], Need(0, 0, 0), Elsewhere(0, 3), [], {})


class Claimant(Protocol):
    """The worker that claims and beats, as its sender sees it."""

    def wanted(self) -> ClaimRequest | None:
        """Return the claim that the worker would make now; None if it has no room."""

    def dry_seconds(self) -> float:
        """Return after how many seconds a slot will be idle unless something is claimed; 0 if one is."""

    def due_beat(self) -> Beat | None:
        """Return a beat if one is due; None if not."""

    def beaten(self, found: Exchanged) -> None:
        """Handle the reply to a call that carried a beat."""


class StepSender:
    """Batches steps. A step that comes near the end of a pause ends it: a timer would cost as much as a call."""

    def __init__(self, ledger: Ledger, name: Callable[[], str], claimant: Claimant) -> None:
        """Create a sender.

        Args:
            ledger: the state of the fleet.
            name: returns the worker's name, which changes when the worker registers anew.
            claimant: the worker.
        """
        self._ledger = ledger
        self._name = name
        self._claimant = claimant
        self._claim: asyncio.Future[Exchanged] | None = None  # answered with the next call that carries a claim
        self._steps: list[Step] = []
        self._sending = asyncio.Lock()
        self._has_work = asyncio.Event()
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
        self._has_work.set()
        if time.monotonic() >= self._due_from:
            self._is_due.set()

    async def claim(self) -> Exchanged:
        """Claim with a call that is made when the worker has room.

        Returns:
            What the worker learns; no claims if it must not claim any more.

        Raises:
            RedisError: Redis cannot be reached or refuses.
        """
        self._claim = asyncio.get_running_loop().create_future()
        self.room_changed()
        return await self._claim

    def room_changed(self) -> None:
        """Notice that the worker may have room, or that a slot may soon be idle."""
        if self._claim is not None and self._claimant.wanted() is not None:
            self._has_work.set()
            if self._claimant.dry_seconds() < self._due_by - time.monotonic():
                self._is_due.set()

    def stop_claims(self) -> None:
        """Claim nothing more: answer the claim that waits for room."""
        self._answer_claim(NOTHING)

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
        """Send steps and claims until this is cancelled."""
        while True:
            await self._has_work.wait()
            await wait_event(self._is_due, self._due_by - time.monotonic())
            self._has_work.clear()
            self._is_due.clear()
            self._due_from = NEVER
            async with self._sending:
                steps = self.take()
                age, self._age = self._age, NEVER
                await self._send(self._name(), steps)
            self._pause = gathering_seconds(len(steps), 0.0 if age == NEVER else age, MOST_GATHERING_SECONDS)
            self._due_by = time.monotonic() + self._pause
            self._due_from = self._due_by - self._pause * min(SHARE_TO_MEET, STEPS_OF_ONE / max(1, len(steps)))
            self.room_changed()  # a claim that was asked for during the call did not know of this pause

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
                await self._call(name, steps)
            except UnknownWorkerError:
                self._answer_claim(NOTHING)  # the worker learns it with its next beat
                return
            except (RedisError, OSError) as error:
                self._ledger.outage.failed(error)
                self._fail_claim(error)
                if not steps:
                    return
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return

    async def _call(self, name: str, steps: Sequence[Step]) -> None:
        request = self._claimant.wanted() if self._claim is not None else None
        beat = self._claimant.due_beat()
        if request is not None or beat is not None:
            found = await self._ledger.exchange(name, steps, request, beat)
            if request is not None:
                self._answer_claim(found)  # first, so that the claims have begun when the beat is looked at
            if beat is not None:
                self._claimant.beaten(found)
        elif steps:
            await self._ledger.apply_steps(name, steps)

    def _answer_claim(self, found: Exchanged) -> None:
        claim, self._claim = self._claim, None
        if claim is not None and not claim.done():
            claim.set_result(found)

    def _fail_claim(self, error: Exception) -> None:
        claim, self._claim = self._claim, None
        if claim is not None and not claim.done():
            claim.set_exception(error)
