"""A worker of a fleet: claims submissions from the ledger and grades them with all slots of its machine.

It claims as many as its slots begin within half a second, so that no slot waits for Redis, and gives back what does not
begin if another worker could begin it (docs/decisions/0032). With each beat, twice a second, it learns what was
cancelled, how many slots are idle elsewhere and how urgent the waiting submissions are. On `stop` it finishes what has
begun and gives back the rest.
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

from sandbox_service.errors import SandboxError
from sandbox_service.event_loop import cancel_tasks, wait_event
from sandbox_service.fleet.ledger.entries import (
    Beat,
    Claim,
    ClaimRequest,
    Drop,
    Elsewhere,
    Exchanged,
    Finish,
    GiveBack,
    Need,
    Start,
    UnknownWorkerError,
)
from sandbox_service.fleet.ledger.intervals import beat_seconds
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.lookahead import Lookahead
from sandbox_service.fleet.steps import StepSender
from sandbox_service.fleet.wakeup import JobListener
from sandbox_service.grading.encoded_grade import EncodedGrade, fault
from sandbox_service.grading.suites import LruCache, Suite, id_of
from sandbox_service.languages import toolchains
from sandbox_service.schema import FailureKind
from sandbox_service.slots.pool import UNBOUNDED_BYTES, SlotPool
from sandbox_service.slots.process import SlotFactory
from sandbox_service.slots.tasks import PRIORITIES, Task

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.25
LOOK_AGAIN_SECONDS = 1.0
LOOK_RARELY_SECONDS = 5.0  # while all slots are busy: the next idle slot looks at once
READY_SECONDS = 0.05
HOLD_SECONDS = 10.0  # claimed submissions wait so long for a slot that works
HOPELESS_SECONDS = 60.0  # without a slot that works: then the worker ends, so that somebody notices
STUCK_SECONDS = 0.25  # a claim that has not begun in so long goes back if slots are idle elsewhere
TURN_SECONDS = 1.0  # … and if more waits, so that the ledger decides anew which is next
GHOST_SECONDS = 5.0
NOTE_SECONDS = 60.0  # between two notes that this version uses Redis
MOST_SUITES = 10_000
SUITES_TO_NAME = 4  # that this worker used last, when it claims: the ledger need not send them

Stopped = asyncio.Task[Literal[True]]
MakeListener = Callable[[str, Callable[[], tuple[int, int, int]]], JobListener]


class Worker:
    """Grades for a fleet with the slots of this machine; the owner of their pool."""

    def __init__(
        self,
        ledger: Ledger,
        make_slot: SlotFactory,
        slots: int,
        make_listener: MakeListener,
        suite_bytes: int,
        memory_bytes: int = UNBOUNDED_BYTES,
    ) -> None:
        """Create a worker; `run` registers it.

        Args:
            ledger: the state of the fleet.
            make_slot: starts a slot process.
            slots: how many.
            make_listener: makes the listener for wake-ups of a worker's name, with the function that claims.
            suite_bytes: of suites that are kept in memory.
            memory_bytes: what the programs of all slots may use together.
        """
        self._ledger = ledger
        self._make_listener = make_listener
        self._slots = slots
        self._host = platform.node()
        self.name = self._new_name()
        self._tasks: dict[str, Task] = {}
        self._begun: set[str] = set()
        self._suites: LruCache[Suite] = LruCache(MOST_SUITES, suite_bytes)
        self._steps = StepSender(ledger, lambda: self.name, self)
        self._has_room = asyncio.Event()
        self._is_awake = False  # a wake-up is being handled: it claims
        self._lookahead = Lookahead()
        self._stopping = False
        self._is_registered = False
        self._refused = 0
        self._checked_ghosts_at = 0.0
        self._ghosts: set[str] = set()
        self._noted_at = 0.0
        self._beaten_at = 0.0
        self._beat_pause = beat_seconds(1)
        self._carried: Exchanged | None = None  # the reply to a beat that went along with steps or a claim
        self._has_carried = asyncio.Event()
        self._urgent_waiting: int | None = (
            None  # priority of what waits in the ledger and no idle slot elsewhere begins
        )
        self._pool = SlotPool(make_slot, slots, self, memory_bytes)

    def _new_name(self) -> str:
        return f"{self._host}.{os.getpid()}.{secrets.token_hex(3)}"

    async def run(self, stop: asyncio.Event, drain_seconds: float) -> None:
        """Work until `stop` is set; then finish for up to `drain_seconds` what has begun, and give back the rest.

        Raises:
            SandboxError: no slot has had a usable sandbox for `HOPELESS_SECONDS`. What was claimed is given back.
        """
        stopped: Stopped = asyncio.ensure_future(stop.wait())
        try:
            if await self._until_registered(stopped):
                await self._work(stopped, drain_seconds)
        finally:
            stopped.cancel()
            await self._pool.close()

    async def _until_registered(self, stopped: Stopped) -> bool:
        """Register once a slot can grade. Return False if the worker was stopped before."""
        logged = ""
        while not stopped.done():
            if self._pool.ready:
                if await self._has_registered():
                    return True
                await asyncio.wait({stopped}, timeout=RETRY_SECONDS)
            reasons = "; ".join(self._pool.reasons())
            if self._pool.unusable_seconds() is not None and reasons != logged:
                log.error("no_jail", extra={"reason": reasons})
                logged = reasons
            self._check_hope()
            await asyncio.wait({stopped}, timeout=READY_SECONDS)
        return False

    def _check_hope(self) -> None:
        """Raise SandboxError if the worker cannot grade and is not going to."""
        seconds = self._pool.unusable_seconds()
        if seconds is not None and seconds >= HOPELESS_SECONDS:
            reasons = "; ".join(self._pool.reasons())
            raise SandboxError(f"no slot has had a usable sandbox for {seconds:.0f} s (see proctor doctor): {reasons}")

    def unready(self) -> list[str]:
        """Return why the worker cannot grade; empty if it can."""
        if self._stopping:
            return ["stopping"]
        reasons = self._pool.reasons()
        if self._ledger.outage.reason:
            reasons.append(f"Redis: {self._ledger.outage.reason}")
        if not self._is_registered:
            reasons.append("not registered yet")
        return reasons

    async def _has_registered(self) -> bool:
        """Try to register. Return False if Redis is away."""
        try:
            await self._register()
        except (RedisError, OSError) as error:
            self._ledger.outage.failed(error)
            return False
        return True

    async def _register(self) -> None:
        info = {
            "host": self._host,
            "pid": os.getpid(),
            "version": version("proctor"),
            "languages": self._pool.languages(),
            "toolchains": [language.name for language in toolchains.present()],
            "memory_bytes": self._pool.memory_bytes,
            "since": time.time(),
        }
        await self._note_format()
        await self._ledger.register(self.name, info, self._slots)
        self._ledger.outage.succeeded()
        self._is_registered = True
        log.info("registered", extra={"reason": f"{self.name}, {self._slots} slots"})

    async def _note_format(self) -> None:
        if time.monotonic() >= self._noted_at + NOTE_SECONDS or not self._noted_at:
            await self._ledger.note_format()
            self._noted_at = time.monotonic()

    async def _work(self, stopped: Stopped, drain_seconds: float) -> None:
        loop = asyncio.get_running_loop()
        listener = self._make_listener(
            self.name, lambda: asyncio.run_coroutine_threadsafe(self._claim_when_room(), loop).result()
        )
        background = [asyncio.ensure_future(self._beat(listener)), asyncio.ensure_future(self._steps.run())]
        listener.start()
        watched: list[asyncio.Task[Any]] = [stopped, *background]
        try:
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            for task in background:
                if task.done():
                    task.result()  # a defect ends the worker, with its traceback
        finally:
            self._stopping = True
            self._has_room.set()
            self._steps.stop_claims()
            listener.stop()
            await self._drain(drain_seconds)
            await cancel_tasks(background)

    # --- claims

    async def _claim_when_room(self) -> tuple[int, int, int]:
        """Claim once there is room. Return how many submissions still wait, and for how many workers and slots."""
        self._is_awake = True
        try:
            while not self._stopping:
                claimed, need = await self._begin_all(await self._steps.claim())
                if claimed or not need.waiting:
                    return need
                self._has_room.clear()  # the ledger left what waits to other workers; ask again later
                await wait_event(self._has_room, LOOK_AGAIN_SECONDS if self._pool.idle else LOOK_RARELY_SECONDS)
            return 0, 0, 0
        finally:
            self._is_awake = False

    async def _claim_now(self) -> None:
        """Claim, though nothing has woken this worker."""
        request = self.wanted()
        if request is not None:
            await self._begin_all(await self._ledger.exchange(self.name, claim=request))

    async def _claim_beyond_share(self, count: int, last_priority: int) -> None:
        """Claim what slots can begin after the test that is running, though none is idle."""
        pool = self._pool
        request = ClaimRequest(count, pool.idle, pool.ready, last_priority, count)
        await self._begin_all(await self._ledger.exchange(self.name, claim=request))

    async def _begin_all(self, found: Exchanged) -> tuple[int, Need]:
        for suite_id, body in found.suites.items():
            self._keep_suite(suite_id, body)
        for claim in found.claims:
            await self._begin(claim)
        self._note_waiting(found)
        return len(found.claims), found.need

    def _note_waiting(self, found: Exchanged) -> None:
        """Note what waits in the ledger. Without it, paused submissions go on."""
        waits = found.need.waiting and not found.others.idle and found.others.urgent < PRIORITIES
        self._urgent_waiting = found.others.urgent if waits else None
        if not waits:
            self._pool.go_on()

    # --- called by the sender of steps

    def wanted(self) -> ClaimRequest | None:
        """See Claimant."""
        pool = self._pool
        slots = pool.ready
        self._lookahead.update(slots)
        if self._stopping or not slots or pool.held >= self._lookahead.most_held:
            return None
        most = self._lookahead.most_claims(slots, pool.idle, pool.held)
        suites = self._suites.latest(SUITES_TO_NAME)
        return ClaimRequest(most, pool.idle, slots, begins=pool.begins, suites=suites)

    def dry_seconds(self) -> float:
        """See Claimant."""
        pool = self._pool
        return 0.0 if pool.idle else self._lookahead.dry_seconds(pool.ready, pool.held - pool.busy)

    def due_beat(self) -> Beat | None:
        """See Claimant. A beat that goes along in the second half of the time between two replaces the next one."""
        if time.monotonic() - self._beaten_at < self._beat_pause / 2:
            return None
        return Beat(self._pool.busy, self._pool.ready, self._pool.idle)

    def beaten(self, found: Exchanged) -> None:
        """See Claimant."""
        self._beaten_at = time.monotonic()
        self._carried = found
        self._has_carried.set()

    # --- suites

    async def _begin(self, claim: Claim) -> None:
        if claim.id in self._tasks:
            return  # claimed again, because the reply to an earlier claim was lost
        try:
            suite = await self._suite(claim.terms.suite)
        except (RedisError, OSError):
            self._steps.add(GiveBack(claim.id))
            return
        if suite is None:
            reason = f"{claim.terms.suite} is no more"
            answer = fault(claim.id, claim.terms.tests, FailureKind.SUITE_LOST, reason)
            self._steps.add(Finish(claim.id, answer.body, fault=True))
            return
        age = max(0.0, claim.now - claim.taken)
        task = Task(
            claim.id,
            claim.body,
            suite,
            claim.terms.tests,
            submitted_at=time.monotonic() - age,
            attempts=claim.attempts,
            alone=claim.alone,
            priority=claim.terms.priority,
        )
        self._tasks[claim.id] = task
        if claim.begun:
            self._begun.add(claim.id)
        self._pool.give(task)

    async def _suite(self, suite_id: str) -> Suite | None:
        """Return a suite's bytes, which only slots parse; None if Redis does not have them or has others."""
        suite = self._suites.get(suite_id)
        if suite is None:
            body = await self._ledger.get_suite(suite_id)
            suite = self._keep_suite(suite_id, body) if body is not None else None
        return suite

    def _keep_suite(self, suite_id: str, body: bytes) -> Suite | None:
        """Keep the bytes of a suite and return it; None if they are not its bytes."""
        if id_of(body) != suite_id:
            return None
        suite = Suite(suite_id, body, [])
        self._suites.put(suite_id, suite, len(body))
        return suite

    # --- called by the pool

    def pool_idle(self) -> None:
        """See PoolOwner."""
        self._note_room()

    def _note_room(self) -> None:
        self._has_room.set()
        self._steps.room_changed()

    def most_urgent(self) -> int | None:
        """See PoolOwner. Only what the worker is about to claim for an idle slot counts.

        While all slots are busy there is none: what waits in Redis is claimed first, or all workers would pause for it.

        Returns:
            The priority of the most urgent submission that the worker is about to claim, or None.
        """
        return self._urgent_waiting if self._is_awake and self._pool.idle else None

    def task_begun(self, task: Task) -> None:
        """See PoolOwner. From now on the submission is a suspect if the worker is lost."""
        if task.id not in self._begun:
            self._begun.add(task.id)
            self._steps.add(Start(task.id))
            if task.alone:  # it may end this worker at once: the ledger must know of the start before
                self._steps.send_now()

    def task_done(self, task: Task, answer: EncodedGrade | None) -> None:
        """See PoolOwner."""
        if self._tasks.get(task.id) is not task:
            return  # this worker does not hold it any more
        self._forget(task.id)
        if answer is None:
            self._steps.add(Drop(task.id))
        else:
            self._steps.add(Finish(task.id, answer.body, fault=answer.is_fault, cacheable=answer.is_lasting))
            self._lookahead.learn(answer.head["timing"]["graded_seconds"])
            self._steps.note_age(time.monotonic() - task.submitted_at)
        if not self._tasks:
            self._steps.send_last()
        self._lookahead.went_on()
        if self._pool.held < self._lookahead.most_held:
            self._note_room()

    def pool_failed(self) -> None:
        """See PoolOwner. Gives back what was claimed when no slot has worked for `HOLD_SECONDS`."""
        seconds = self._pool.unusable_seconds()
        if seconds is not None and seconds >= HOLD_SECONDS:
            self._give_back(self._pool.take_back())

    def _give_back(self, tasks: Sequence[Task]) -> None:
        for task in reversed(tasks):  # each goes before all others of its client
            self._forget(task.id)
            self._steps.add(GiveBack(task.id))
        if tasks:
            self._steps.send_now()

    def _give_back_stuck(self, need: Need, idle_elsewhere: int) -> None:
        """Give back what has not begun here, if it would begin sooner elsewhere or others' turn has come."""
        stuck: list[Task] = []
        if not self._pool.idle and (idle_elsewhere or need.waiting):
            stuck = self._pool.take_back_new(STUCK_SECONDS if idle_elsewhere else TURN_SECONDS)
        if stuck:
            self._lookahead.got_stuck()
            self._give_back(stuck)

    def _forget(self, task_id: str) -> None:
        del self._tasks[task_id]
        self._begun.discard(task_id)

    # --- beats

    async def _beat(self, listener: JobListener) -> None:
        """Report that the worker lives, and do what the reply asks for."""
        while True:
            self._check_hope()
            try:
                found, self._carried = self._carried or await self._own_beat(), None
                self._ledger.outage.succeeded()
                self._beat_pause = beat_seconds(found.need.workers)
                for task_id in found.cancelled:
                    self._cancel(task_id)
                self._note_waiting(found)
                if not self._stopping:
                    await self._rebalance(found.need, found.others)
                await self._give_back_ghosts(found.held)
                await self._note_format()
                if listener.refused > self._refused:
                    await self._ledger.count("refused", listener.refused - self._refused)
                    self._refused = listener.refused
            except UnknownWorkerError:
                await self._start_over()
            except (RedisError, OSError) as error:
                self._ledger.outage.failed(error)
            self._steps.room_changed()
            await wait_event(self._has_carried, self._beat_pause)
            self._has_carried.clear()

    async def _own_beat(self) -> Exchanged:
        """Beat in a call of its own."""
        pool = self._pool
        found = await self._ledger.beat(self.name, pool.busy, pool.ready, pool.idle)
        self._beaten_at = time.monotonic()
        return found

    async def _rebalance(self, need: Need, others: Elsewhere) -> None:
        """Give back or claim, by what waits in the ledger and how idle other workers are."""
        self._give_back_stuck(need, others.idle)
        if need.waiting and self._pool.idle and not self._is_awake:
            await self._claim_now()  # no wake-up has come: RQ has lost it, or Redis has no room for one
        elif others.urgent < min(self._pool.least_urgent, self._pool.most_urgent_waiting):
            await self._claim_beyond_share(self._pool.ready, others.urgent)
        elif need.waiting and not others.idle and (count := self._pool.slots_to_share):
            await self._claim_beyond_share(count, self._pool.least_urgent)

    async def _give_back_ghosts(self, count: int) -> None:
        """Give back what the worker does not have although Redis says so: Redis lost the worker's last steps.

        Args:
            count: how many submissions it holds by the ledger. Their ids are read only if these are more than it has.
        """
        known = self._tasks.keys() | self._steps.ids
        if count <= len(known):
            self._ghosts.clear()
            return
        if time.monotonic() - self._checked_ghosts_at < GHOST_SECONDS:
            return
        self._checked_ghosts_at = time.monotonic()
        ghosts = set(await self._ledger.held(self.name)) - known
        for task_id in ghosts & self._ghosts:  # seen twice, so no claim is on its way
            self._steps.add(GiveBack(task_id))
        self._ghosts = ghosts

    def _cancel(self, task_id: str) -> None:
        task = self._tasks.get(task_id)
        if task is None:
            self._steps.add(Drop(task_id))
        elif not task.is_cancelled:
            self._pool.cancel(task)

    async def _start_over(self) -> None:
        """Drop everything and register under a new name: the worker was reaped, or Redis has lost its data."""
        log.warning("worker_unknown_to_fleet", extra={"reason": self.name})
        self._pool.take_back()
        for task in list(self._tasks.values()):
            if task.slot is not None:
                self._pool.cancel(task)
        self._tasks.clear()
        self._begun.clear()
        self._steps.take()
        self._is_registered = False
        self._carried = None
        self.name = self._new_name()
        if self._stopping:
            return
        with suppress(RedisError, OSError):
            await self._register()

    async def _drain(self, seconds: float) -> None:
        """Give back what has not begun, and finish the rest."""
        self._give_back(self._pool.take_back())
        deadline = time.monotonic() + seconds
        while self._tasks and time.monotonic() < deadline:
            await asyncio.sleep(READY_SECONDS)
        with suppress(RedisError, OSError, TimeoutError):
            await asyncio.wait_for(self._steps.send_rest(), 5.0)
            await asyncio.wait_for(self._ledger.leave(self.name), 5.0)
