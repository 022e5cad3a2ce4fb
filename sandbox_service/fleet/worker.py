"""A worker of a fleet: claims submissions from the ledger and grades them with all slots of its machine.

It claims as many as its slots begin within half a second, so that no slot waits for Redis, and gives back what does not
begin if another worker could begin it (docs/decisions/0032). With each beat, twice a second, it learns what was
cancelled, how many slots are idle elsewhere and how urgent the waiting submissions are. On `stop` it finishes what has
begun and gives back the rest.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

from redis.exceptions import RedisError

from sandbox_service.errors import SandboxError
from sandbox_service.event_loop import cancel_tasks, wait_event
from sandbox_service.fleet.ghosts import GhostFinder
from sandbox_service.fleet.heartbeat import Heartbeat
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
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.lookahead import Lookahead
from sandbox_service.fleet.membership import Membership
from sandbox_service.fleet.steps import StepSender
from sandbox_service.fleet.wakeup import JobListener
from sandbox_service.fleet.worker_suites import WorkerSuites
from sandbox_service.grading.encoded_grade import EncodedGrade, fault
from sandbox_service.queues.base import id_of
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
HOPELESS_SECONDS = 60.0  # without a slot that works: then the worker ends, so that its supervisor notices
STUCK_SECONDS = 0.25  # a claim that has not begun in so long goes back if slots are idle elsewhere
TURN_SECONDS = 1.0  # … and if more waits, so that the ledger decides anew which is next

Stopped = asyncio.Task[Literal[True]]
MakeListener = Callable[[str, Callable[[float], tuple[int, int, int]]], JobListener]


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
        self._membership = Membership(ledger, slots)
        self._tasks: dict[str, Task] = {}
        self._begun: set[str] = set()
        self._suites = WorkerSuites(ledger, suite_bytes)
        self._steps = StepSender(ledger, lambda: self.name, self)
        self._has_room = asyncio.Event()
        self._is_awake = False  # a wake-up is being handled: it claims
        self._lookahead = Lookahead()
        self._stopping = False
        self._refused = 0
        self._ghosts = GhostFinder(ledger)
        self._heartbeat = Heartbeat(ledger)
        self._urgent_waiting: int | None = None  # priority of waiting submissions, and no idle slot elsewhere
        self._pool = SlotPool(make_slot, slots, self, memory_bytes)

    @property
    def name(self) -> str:
        """Return its name in the ledger, which changes when it registers anew."""
        return self._membership.name

    async def run(self, stop: asyncio.Event, drain_seconds: float) -> None:
        """Work until `stop` is set; then finish begun submissions for up to `drain_seconds`, and give back the others.

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
                if await self._membership.has_registered(self._pool):
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
            problem = f"no slot has had a usable sandbox for {seconds:.0f} s (see proctor doctor)"
            raise SandboxError(f"{problem}: {'; '.join(self._pool.reasons())}")

    def unready(self) -> list[str]:
        """Return why the worker cannot grade; empty if it can."""
        if self._stopping:
            return ["stopping"]
        reasons = self._pool.reasons()
        if self._ledger.outage.reason:
            reasons.append(f"Redis: {self._ledger.outage.reason}")
        if not self._membership.is_registered:
            reasons.append("not registered yet")
        return reasons

    async def _work(self, stopped: Stopped, drain_seconds: float) -> None:
        loop = asyncio.get_running_loop()
        listener = self._make_listener(
            self.name, lambda seconds: asyncio.run_coroutine_threadsafe(self._claim_for(seconds), loop).result()
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

    async def _claim_for(self, seconds: float) -> Need:
        """Claim whenever there is room, at least once, for so long or until nothing waits. Return what still waits."""
        end = time.monotonic() + seconds
        self._is_awake = True
        try:
            while not self._stopping:
                claimed, need = await self._begin_all(await self._steps.claim())
                if not need.waiting or (claimed and time.monotonic() >= end):
                    return need
                if not claimed:  # the ledger left the waiting submissions to other workers; ask again later
                    self._has_room.clear()
                    await wait_event(self._has_room, LOOK_AGAIN_SECONDS if self._pool.idle else LOOK_RARELY_SECONDS)
            return Need(0, 0, 0)
        finally:
            self._is_awake = False

    async def _claim(self, request: ClaimRequest | None) -> None:
        """Claim, though nothing has woken this worker."""
        if request is not None:
            await self._begin_all(await self._ledger.exchange(self.name, claim=request))

    def _beyond_share(self, count: int, last_priority: int) -> ClaimRequest:
        """Return a claim of submissions that slots can begin after the running test, though none is idle."""
        return ClaimRequest(count, self._pool.idle, self._pool.ready, last_priority, count)

    async def _begin_all(self, found: Exchanged) -> tuple[int, Need]:
        for suite_id, body in found.suites.items():
            self._suites.keep(suite_id, body)
        for claim in found.claims:
            await self._begin(claim)
        self._note_waiting(found)
        return len(found.claims), found.need

    async def _begin(self, claim: Claim) -> None:
        if claim.id in self._tasks:
            return  # claimed again, because the reply to an earlier claim was lost
        try:
            suite = await self._suites.get(claim.terms.suite)
        except (RedisError, OSError):
            self._steps.add(GiveBack(claim.id))
            return
        shown_id = id_of(claim.id, claim.terms.client)
        if suite is None:
            reason = f"{claim.terms.suite} is no more"
            answer = fault(shown_id, claim.terms.tests, FailureKind.SUITE_LOST, reason)
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
            shown_id=shown_id,
        )
        self._tasks[claim.id] = task
        if claim.begun:
            self._begun.add(claim.id)
        self._pool.give(task)

    def _note_waiting(self, found: Exchanged) -> None:
        """Note the submissions that wait in the ledger. Without this call, paused submissions continue."""
        waits = found.need.waiting and not found.others.idle and found.others.urgent < PRIORITIES
        self._urgent_waiting = found.others.urgent if waits else None
        if not waits:
            self._pool.go_on()

    # --- called by the sender of steps

    def wanted(self) -> ClaimRequest | None:
        """See Claimant."""
        return None if self._stopping else self._lookahead.request(self._pool, self._suites.latest())

    def dry_seconds(self) -> float:
        """See Claimant."""
        pool = self._pool
        return 0.0 if pool.idle else self._lookahead.dry_seconds(pool.ready, pool.held - pool.busy)

    def due_beat(self) -> Beat | None:
        """See Claimant."""
        return self._heartbeat.due(self._pool)

    def beaten(self, found: Exchanged) -> None:
        """See Claimant."""
        self._heartbeat.carried(found)

    # --- called by the pool

    def pool_idle(self) -> None:
        """See PoolOwner."""
        self._has_room.set()
        self._steps.room_changed()

    def most_urgent(self) -> int | None:
        """See PoolOwner. Only submissions that the worker is about to claim for an idle slot count.

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
            self.pool_idle()

    def pool_failed(self) -> None:
        """See PoolOwner. Gives back the claims when no slot has worked for `HOLD_SECONDS`."""
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
        """Give back submissions that have not begun, if they begin sooner elsewhere or others' turn has come."""
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
        """Report that the worker lives, and follow the orders in the reply."""
        while True:
            self._check_hope()
            try:
                found = await self._heartbeat.reply(self.name, self._pool)
                self._ledger.outage.succeeded()
                for task_id in found.cancelled:
                    self._cancel(task_id)
                self._note_waiting(found)
                if not self._stopping:
                    await self._rebalance(found.need, found.others)
                known = self._tasks.keys() | self._steps.ids
                for task_id in await self._ghosts.find(self.name, found.held, known):
                    self._steps.add(GiveBack(task_id))
                await self._membership.note_format()
                if listener.refused > self._refused:
                    await self._ledger.count("refused", listener.refused - self._refused)
                    self._refused = listener.refused
            except UnknownWorkerError:
                await self._start_over()
            except (RedisError, OSError) as error:
                self._ledger.outage.failed(error)
                self._heartbeat.failed()
            self._steps.room_changed()
            await self._heartbeat.wait()

    async def _rebalance(self, need: Need, others: Elsewhere) -> None:
        """Give back or claim, depending on the waiting submissions and on the idle slots of other workers."""
        self._give_back_stuck(need, others.idle)
        if need.waiting and self._pool.idle and not self._is_awake:
            await self._claim(self.wanted())  # no wake-up has come: RQ has lost it, or Redis has no room for one
        elif others.urgent < min(self._pool.least_urgent, self._pool.most_urgent_waiting):
            await self._claim(self._beyond_share(self._pool.ready, others.urgent))
        elif need.waiting and not others.idle and (count := self._pool.slots_to_share):
            await self._claim(self._beyond_share(count, self._pool.least_urgent))

    def _cancel(self, task_id: str) -> None:
        task = self._tasks.get(task_id)
        if task is None:
            self._steps.add(Drop(task_id))
        elif not task.is_cancelled:
            self._pool.cancel(task)

    async def _start_over(self) -> None:
        """Drop everything and register under a new name: the worker was reaped, or Redis has lost its data."""
        self._pool.take_back()
        for task in list(self._tasks.values()):
            if task.slot is not None:
                self._pool.cancel(task)
        self._tasks.clear()
        self._begun.clear()
        self._steps.take()
        self._heartbeat.forget()
        self._membership.renew()
        if not self._stopping:
            await self._membership.has_registered(self._pool)

    async def _drain(self, seconds: float) -> None:
        """Give back submissions that have not begun, and finish the others."""
        self._give_back(self._pool.take_back())
        deadline = time.monotonic() + seconds
        while self._tasks and time.monotonic() < deadline:
            await asyncio.sleep(READY_SECONDS)
        with suppress(RedisError, OSError, TimeoutError):
            await asyncio.wait_for(self._steps.send_rest(), 5.0)
            await asyncio.wait_for(self._ledger.leave(self.name), 5.0)
