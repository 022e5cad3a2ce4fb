"""A worker: one for each machine, with all its slots, taking submissions from the ledger and grading them.

It claims a little more than its slots can do at once, so that none waits for Redis; says that it lives twice a second,
and hears then what was cancelled; and hands in answers in the order in which they were made, keeping them while Redis
is away. Told to stop, it finishes what was begun and gives back the rest.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any, Literal

from redis.exceptions import RedisError

from sandbox_service.answers import Answer, fault
from sandbox_service.chores import end, within
from sandbox_service.crew import Crew, Task
from sandbox_service.hands import CHUNK, Pump
from sandbox_service.ledger.entries import Claim, Drop, Finish, GiveBack, Need, Start, Step, Unknown
from sandbox_service.ledger.ledger import Ledger
from sandbox_service.ledger.pace import beat_seconds, gathering_seconds
from sandbox_service.slots import SlotFactory
from sandbox_service.suites import Shelf, Suite, id_of

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.25
LOOK_AGAIN_SECONDS = 1.0
LOOK_RARELY_SECONDS = 5.0  # while all slots are busy: the next that is idle looks at once
READY_SECONDS = 0.05
HOLD_SECONDS = 10.0  # what was claimed waits so long for a slot that works
AHEAD = 4  # submissions for each slot, those in work included: with fewer, more are claimed
LEAST_AHEAD = 8
GHOST_SECONDS = 5.0
MOST_SUITES = 10_000
MOST_GATHERING_SECONDS = 0.2  # so late it may be known what we begin, see decision 13
STEPS_OF_ONE = 2  # submission: its beginning and its end
SHARE_TO_MEET = 0.3  # of a pause at most, its end, in which one is likely to come: it takes all with it
SHORT_SECONDS = 0.01  # a pause of so long is not worth cutting short
NEVER = float("inf")

Stopped = asyncio.Task[Literal[True]]
StartPump = Callable[[str, Callable[[], tuple[int, int, int]]], Pump]


class Worker:
    """Grades for a fleet with the slots of this machine."""

    def __init__(
        self, ledger: Ledger, make_slot: SlotFactory, slots: int, make_pump: StartPump, suite_bytes: int
    ) -> None:
        self._ledger = ledger
        self._make_pump = make_pump
        self._count = slots
        self._host = platform.node()
        self.name = self._new_name()
        self._tasks: dict[str, Task] = {}
        self._begun: set[str] = set()
        self._suites: Shelf[Suite] = Shelf(MOST_SUITES, suite_bytes)
        self._steps: list[Step] = []
        self._has_steps = asyncio.Event()
        self._is_due = asyncio.Event()
        self._pause = 0.0
        self._due_from = self._due_by = 0.0  # the next step from then on takes all with it; by then they go anyhow
        self._age = NEVER  # of the youngest that was answered and not yet handed in
        self._has_room = asyncio.Event()
        self._most_held = LEAST_AHEAD  # with fewer there is room
        self._stopping = False
        self._refused = 0
        self._looked = 0.0
        self._ghosts: set[str] = set()
        self._crew = Crew(make_slot, slots, self)

    def _new_name(self) -> str:
        return f"{self._host}.{os.getpid()}.{secrets.token_hex(3)}"

    @property
    def crew(self) -> Crew:
        """The slots, for tests."""
        return self._crew

    async def run(self, stop: asyncio.Event, drain_seconds: float) -> None:
        """Work until `stop`; then finish what was begun, for so long, and give back the rest."""
        stopped: Stopped = asyncio.ensure_future(stop.wait())
        try:
            if await self._until_ready(stopped):
                await self._work(stopped, drain_seconds)
        finally:
            stopped.cancel()
            await self._crew.close()

    async def _until_ready(self, stopped: Stopped) -> bool:
        """Register once a slot can grade; whether that was so before the end."""
        said = ""
        while not stopped.done():
            if self._crew.ready:
                with suppress(RedisError, OSError):
                    await self._register()
                    return True
                log.warning("redis_away")
                await asyncio.sleep(RETRY_SECONDS)
            reasons = "; ".join(self._crew.reasons())
            if self._crew.unusable_seconds() is not None and reasons != said:
                log.error("no_jail", extra={"reason": reasons})
                said = reasons
            await asyncio.wait({stopped}, timeout=READY_SECONDS)
        return False

    async def _register(self) -> None:
        info = {
            "host": self._host,
            "pid": os.getpid(),
            "version": version("proctor"),
            "languages": self._crew.languages(),
            "since": time.time(),
        }
        await self._ledger.register(self.name, info, self._count)
        log.info("registered", extra={"reason": f"{self.name}, {self._count} slots"})

    async def _work(self, stopped: Stopped, drain_seconds: float) -> None:
        loop = asyncio.get_running_loop()
        pump = self._make_pump(self.name, lambda: asyncio.run_coroutine_threadsafe(self._take(), loop).result())
        chores = [asyncio.ensure_future(self._beat(pump)), asyncio.ensure_future(self._settle())]
        pump.start()
        watched: list[asyncio.Task[Any]] = [stopped, *chores]
        try:
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            for chore in chores:
                if chore.done():
                    chore.result()  # a defect ends the worker, with its traceback
        finally:
            self._stopping = True
            self._has_room.set()
            pump.stop()
            await self._drain(drain_seconds)
            await end(chores)

    # --- taking

    async def _take(self) -> tuple[int, int, int]:
        """Claim something, once there is room for it; what still waits, and for how many workers and slots."""
        while not self._stopping:
            await self._room()
            claimed, need = await self._claim()
            if claimed or not need.waiting:
                return need
            self._has_room.clear()  # what waits is for others, unless they leave it to us
            pause = LOOK_AGAIN_SECONDS if self._crew.idle else LOOK_RARELY_SECONDS
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_room.wait(), pause)
        return 0, 0, 0

    async def _claim(self) -> tuple[int, Need]:
        claims, need = await self._ledger.claim(self.name, CHUNK, self._crew.idle, self._crew.ready)
        for claim in claims:
            await self._begin(claim)
        return len(claims), need

    async def _room(self) -> None:
        while not self._stopping:
            slots = self._crew.ready
            self._most_held = max(AHEAD * slots, LEAST_AHEAD)
            if slots and self._crew.held < self._most_held:
                return
            self._has_room.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_room.wait(), LOOK_AGAIN_SECONDS)

    async def _begin(self, claim: Claim) -> None:
        if claim.id in self._tasks:
            return  # the reply to an earlier claim was lost, or so it seemed
        try:
            suite = await self._suite(claim.terms.suite)
        except (RedisError, OSError):
            self._note(GiveBack(claim.id))
            return
        if suite is None:
            answer = fault(claim.id, claim.terms.tests, "suite_lost", f"{claim.terms.suite} is no more")
            self._note(Finish(claim.id, answer.body, fault=True))
            return
        age = max(0.0, claim.now - claim.taken)
        task = Task(
            claim.id,
            claim.body,
            suite,
            claim.terms.tests,
            taken=time.monotonic() - age,
            attempts=claim.attempts,
            alone=claim.alone,
        )
        self._tasks[claim.id] = task
        self._crew.give(task)

    async def _suite(self, suite_id: str) -> Suite | None:
        """A suite's bytes, which only a slot reads; None if Redis has them no more, or has others."""
        suite = self._suites.get(suite_id)
        if suite is None:
            body = await self._ledger.get_suite(suite_id)
            if body is None or id_of(body) != suite_id:
                return None
            suite = Suite(suite_id, body, [])
            self._suites.put(suite_id, suite, len(body))
        return suite

    # --- what the crew calls

    def crew_idle(self) -> None:
        """See crew.Owner."""
        self._has_room.set()

    def task_begun(self, task: Task) -> None:
        """See crew.Owner. If we are killed now, it is a suspect."""
        if task.id not in self._begun:
            self._begun.add(task.id)
            self._note(Start(task.id))
            if task.alone:  # it may end us at once: let that be known before
                self._is_due.set()

    def task_done(self, task: Task, answer: Answer | None) -> None:
        """See crew.Owner."""
        if self._tasks.get(task.id) is not task:
            return  # it is somebody else's by now
        self._forget(task.id)
        if answer is None:
            self._note(Drop(task.id))
        else:
            self._note(Finish(task.id, answer.body, fault=answer.is_fault, cacheable=answer.is_lasting))
            self._age = min(self._age, time.monotonic() - task.taken)
        if not self._tasks and self._pause > SHORT_SECONDS:
            self._is_due.set()  # this was the last of many: nothing more will come to go with it
        if self._crew.held < self._most_held:
            self._has_room.set()

    def crew_failed(self) -> None:
        """See crew.Owner. What was claimed goes to another worker."""
        seconds = self._crew.unusable_seconds()
        if seconds is not None and seconds >= HOLD_SECONDS:
            self._give_back()

    def _give_back(self) -> None:
        for task in self._crew.take_back():
            self._forget(task.id)
            self._note(GiveBack(task.id))

    def _forget(self, task_id: str) -> None:
        del self._tasks[task_id]
        self._begun.discard(task_id)

    # --- what Redis is told

    def _note(self, step: Step) -> None:
        self._steps.append(step)
        self._has_steps.set()
        if time.monotonic() >= self._due_from:
            self._is_due.set()

    async def _settle(self) -> None:
        """Hand in what became of submissions, in order; again until Redis has it.

        What gathers goes with a step that wakes us anyhow. A timer of its own would cost as much as the call.
        """
        while True:
            await self._has_steps.wait()
            await within(self._due_by - time.monotonic(), self._is_due)
            self._has_steps.clear()
            self._is_due.clear()
            self._due_from = NEVER
            steps, self._steps = self._steps, []
            age, self._age = self._age, NEVER
            await self._hand_in(self.name, steps)
            self._pause = gathering_seconds(len(steps), 0.0 if age == NEVER else age, MOST_GATHERING_SECONDS)
            self._due_by = time.monotonic() + self._pause
            self._due_from = self._due_by - self._pause * min(SHARE_TO_MEET, STEPS_OF_ONE / max(1, len(steps)))

    async def _hand_in(self, name: str, steps: Sequence[Step]) -> None:
        while name == self.name:  # under another name, none of it is ours any more
            try:
                await self._ledger.settle(name, steps)
            except (RedisError, OSError) as trouble:
                log.warning("redis_away", extra={"reason": str(trouble)})
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return

    async def _beat(self, pump: Pump) -> None:
        """Say that we live, and hear what is to be cancelled."""
        pause = beat_seconds(1)
        while True:
            try:
                cancelled, need = await self._ledger.beat(self.name, self._crew.busy, self._crew.ready)
                pause = beat_seconds(need.workers)
                for task_id in cancelled:
                    self._cancel(task_id)
                if need.waiting and self._crew.idle and not self._stopping:
                    await self._claim()  # no call has come: RQ has lost it, or Redis has no room for calls
                await self._look_for_ghosts()
                if pump.refused > self._refused:
                    await self._ledger.count("refused", pump.refused - self._refused)
                    self._refused = pump.refused
            except Unknown:
                await self._start_over()
            except (RedisError, OSError) as trouble:
                log.warning("redis_away", extra={"reason": str(trouble)})
            await asyncio.sleep(pause)

    async def _look_for_ghosts(self) -> None:
        """Give back what Redis says that we hold and we do not: it has lost the last it heard of us, with its disk."""
        if time.monotonic() - self._looked < GHOST_SECONDS:
            return
        self._looked = time.monotonic()
        known = self._tasks.keys() | {step.id for step in self._steps}
        ghosts = set(await self._ledger.held(self.name)) - known
        for task_id in ghosts & self._ghosts:  # seen twice: not just on its way
            self._note(GiveBack(task_id))
        self._ghosts = ghosts

    def _cancel(self, task_id: str) -> None:
        task = self._tasks.get(task_id)
        if task is None:
            self._note(Drop(task_id))
        elif not task.unwanted:
            self._crew.cancel(task)

    async def _start_over(self) -> None:
        """We were taken for dead, or Redis has lost its memory: what we hold is others' by now."""
        log.warning("unknown_to_the_fleet", extra={"reason": self.name})
        self._crew.take_back()
        for task in list(self._tasks.values()):
            if task.slot is not None:
                self._crew.cancel(task)
        self._tasks.clear()
        self._begun.clear()
        self._steps.clear()
        self.name = self._new_name()
        if self._stopping:
            return
        with suppress(RedisError, OSError):
            await self._register()

    async def _drain(self, seconds: float) -> None:
        """Give back what was not begun, and finish the rest."""
        self._give_back()
        deadline = time.monotonic() + seconds
        while self._tasks and time.monotonic() < deadline:
            await asyncio.sleep(READY_SECONDS)
        with suppress(RedisError, OSError, TimeoutError):
            steps, self._steps = self._steps, []
            await asyncio.wait_for(self._ledger.settle(self.name, steps), 5.0)
            await asyncio.wait_for(self._ledger.leave(self.name), 5.0)
