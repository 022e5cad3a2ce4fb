"""The queue of a fleet, as an API process sees it: submits to the ledger, enqueues wake-ups, receives answers.

Every pending submission stays in this process until it is answered (pending.py). Answers arrive on a stream of this
process, and a watchdog looks up those that do not (watchdog.py).
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from redis.exceptions import RedisError

from sandbox_service.bounds import Bounds
from sandbox_service.errors import UnavailableError
from sandbox_service.event_loop import cancel_tasks
from sandbox_service.fleet.coalescer import Coalescer
from sandbox_service.fleet.ledger.entries import Entry, Taken, Terms
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.pending import PendingSubmissions, cancelled
from sandbox_service.fleet.reaper import Reaper
from sandbox_service.fleet.replies import REPLY_SECONDS, Replies
from sandbox_service.fleet.retry import RETRY_SECONDS, with_retries
from sandbox_service.fleet.status import FleetStatus
from sandbox_service.fleet.suite_store import ReadSuite, SuiteStore
from sandbox_service.fleet.waker import Waker
from sandbox_service.fleet.wakeup import JobEnqueuer
from sandbox_service.fleet.watchdog import Watchdog
from sandbox_service.grading import suites
from sandbox_service.grading.suites import Suite
from sandbox_service.queues.backlog import check_fits, load_of
from sandbox_service.queues.base import NO_KEYS, Depth, Job, Waiter, WorkerStatus, distinct, name_of
from sandbox_service.queues.estimate import Estimate
from sandbox_service.queues.observers import EventCollector, Observers, QueueObserver
from sandbox_service.queues.quotas import LocalLevels, Quotas
from sandbox_service.queues.waiter import SharedWaiter

T = TypeVar("T")
log = logging.getLogger(__name__)

TICK_SECONDS = 0.25
STATE_SECONDS = 0.5
NOTE_SECONDS = 60.0  # between two notes that this version uses Redis
RECALL_SECONDS = 60.0  # in which every API process has submitted the lost submissions again
NO_BOUNDS = Bounds(1 << 50, 1 << 50, 1e9)  # a submission that was taken is not refused when it is submitted again


def is_recent_loss(seconds: float | None) -> bool:
    """Return whether API processes may still be submitting what Redis has lost so many seconds ago, if it has."""
    return seconds is not None and seconds < RECALL_SECONDS


class FleetQueue:
    """See ObservedQueue. `start` must be called in the event loop that uses it."""

    def __init__(
        self,
        ledger: Ledger,
        enqueuer: JobEnqueuer,
        bounds: Bounds,
        suite_bytes: int = 256 << 20,
        cache_seconds: float = 0.0,
        read_suite: ReadSuite = suites.read,
        quotas: Quotas | None = None,
    ) -> None:
        """Create the queue of one API process.

        Args:
            ledger: the state of the fleet.
            enqueuer: makes the RQ jobs that wake workers.
            bounds: of all pending submissions of the fleet.
            suite_bytes: of suites that are kept in memory.
            cache_seconds: for how long answers are shared with equal submissions; 0 for never.
            read_suite: reads a suite from Redis.
            quotas: of API keys; none by default.
        """
        self.quotas = quotas or Quotas({}, LocalLevels())
        self._ledger = ledger
        self._waker = Waker(enqueuer)
        self._bounds = bounds
        self.name = f"{platform.node()}.{os.getpid()}.{secrets.token_hex(8)}"
        self._estimate = Estimate()
        self._observers = Observers()
        self._pending = PendingSubmissions(self._estimate, self._observers)
        self._suites = SuiteStore(ledger, suite_bytes, read_suite)
        self._coalescer = Coalescer(self._submit_entries)
        self._status = FleetStatus(ledger, caches=cache_seconds > 0)
        self._reaper = Reaper(ledger, self.name)
        self._watchdog = Watchdog(
            ledger,
            self.name,
            self._pending,
            self._suites,
            self._resubmit,
            lambda id_, found: self._replies.accept_found(id_, found),
        )
        self._replies = Replies(ledger, self.name, self._pending, self._status, self._watchdog)
        self._releasing: frozenset[str] = frozenset()  # in the ledger, by a call that is under way
        self._has_released = asyncio.Event()
        self._defect = ""
        self._closing = False
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def ledger(self) -> Ledger:
        """Return the state of the fleet."""
        return self._ledger

    async def start(self) -> None:
        """Start the background tasks: receive answers, enqueue wake-ups, watch."""
        try:
            await self._refresh()
        except (RedisError, OSError) as error:
            self._ledger.outage.failed(error)
        self._tasks = [
            asyncio.create_task(self._restarted(work)) for work in (self._replies.receive, self._waker.run, self._tick)
        ]
        for task in self._tasks:
            task.add_done_callback(self._task_ended)

    # --- called by the API

    async def submit(self, jobs: Sequence[Job]) -> list[Waiter]:
        """See JobQueue."""
        began = time.monotonic()
        if self._closing or self._defect:
            raise UnavailableError(self._defect or "the service is closing")
        each = distinct(jobs)
        self._status.require({name for job in each for name in job.languages})
        new = [job for job in each if not self._pending.has(job)]
        self._status.require_memory(new)
        check_fits((load_of(job, self._estimate) for job in new), self._bounds)
        if self.quotas.are_any:
            await self._with_retries(lambda: self.quotas.check(new, lambda: self._are_known(new)))
        pending = {job.name: self._pending.add(job) for job in each}
        # before an answer can arrive
        waiters = [SharedWaiter(pending[job.name], self._pending.release) for job in jobs]
        try:
            taken = await self._submit(each)
        except BaseException:
            for waiter in waiters:
                waiter.release()
            raise
        for job, (state, answer) in zip(each, taken, strict=True):
            self._pending.confirm(job, pending[job.name])
            if answer is not None:
                self._pending.answer(job.name, self._replies.read(job.id, answer, cached=state == "cached"))
        self.quotas.submitted([job for job, (state, _) in zip(each, taken, strict=True) if state in ("new", "cached")])
        self._observers.watch(jobs, waiters, began)
        return list(waiters)

    async def _are_known(self, jobs: Sequence[Job]) -> bool:
        """Return whether all jobs were submitted before, here or elsewhere, and none of them ended with a fault."""
        found = await self._ledger.look([job.name for job in jobs])
        return all(each.state != "gone" and not each.fault for each in found)

    def observe(self, observer: QueueObserver) -> None:
        """See ObservedQueue."""
        self._observers.add(observer)

    def collect(self, collector: EventCollector) -> None:
        """See ObservedQueue."""
        self._observers.collect(collector)

    async def _submit(self, jobs: Sequence[Job]) -> list[Taken]:
        entries = [self._entry(job) for job in jobs]
        await self._with_retries(lambda: self._suites.ensure(job.suite for job in jobs))
        await self._until_released(job.name for job in jobs)
        return await self._with_retries(lambda: self._coalescer.submit(entries))

    async def _submit_entries(self, entries: Sequence[Entry]) -> list[Taken]:
        taken, need = await self._ledger.submit(entries, self.name, self._bounds)
        self._waker.note(need)
        return taken

    def _entry(self, job: Job) -> Entry:
        terms = Terms(
            suite=job.suite.id,
            client=job.client,
            priority=job.priority,
            cost=self._estimate.cost(job.tests),
            tests=job.tests,
            graders="" if job.fresh else self._status.graders,
            labels=tuple(job.labels.items()),
            keep=job.keep,
        )
        return Entry(job.name, job.digest, job.body, terms, job.own_bytes)

    async def find(self, submission_id: str, keys: Sequence[str] = NO_KEYS) -> Waiter | None:
        """See JobQueue."""
        if self._defect:
            raise UnavailableError(self._defect)
        names = [name_of(submission_id, key) for key in keys]
        if len(names) > 1:  # an administrator's
            found = await self._with_retries(lambda: self._ledger.look(names))
            is_gone = [
                each.state == "gone" and name not in self._pending for name, each in zip(names, found, strict=True)
            ]
            names = [name for name, gone in zip(names, is_gone, strict=True) if not gone]
        for name in names:
            waiter = await self._find(name, submission_id)
            if waiter is not None:
                return waiter
        await self._check_memory()
        return None

    async def _find(self, name: str, submission_id: str) -> Waiter | None:
        """Return a waiter for the submission of a name; None if it is unknown."""
        pending = self._pending.get(name)
        if pending is not None and pending.is_known:
            return SharedWaiter(pending, self._pending.release)
        pending = self._pending.add_unknown(name, submission_id)
        waiter = SharedWaiter(pending, self._pending.release)
        try:
            await self._until_released([name])
            found = await self._with_retries(lambda: self._ledger.join(name, self.name))
        except BaseException:
            waiter.release()
            raise
        if found.state == "answered":
            answer = self._replies.read(submission_id, found.answer, found.cached)
            if not self._replies.is_of_older_worker(answer):
                self._pending.answer(name, answer)
        elif found.state == "gone" and not pending.is_known and not pending.answer.done():
            waiter.release()
            return None
        pending.is_known = True
        return waiter

    async def _check_memory(self) -> None:
        """Raise UnavailableError if Redis has lost data lately: another API process may have the submission."""
        lost = await self._with_retries(self._ledger.lost_seconds_ago)
        if lost is not None and is_recent_loss(lost):
            reason = f"Redis has lost its memory {lost:.0f} s ago, and what is pending is being submitted again"
            raise UnavailableError(f"{reason}; ask again")

    async def cancel(self, submission_ids: Sequence[str], keys: Sequence[str] = NO_KEYS) -> int:
        """See JobQueue."""
        return await self._cancel([name_of(each, key) for each in submission_ids for key in keys])

    async def cancel_labelled(self, name: str, value: str, keys: Sequence[str] = NO_KEYS) -> int:
        """See JobQueue."""
        return await self._cancel(await self._with_retries(lambda: self._ledger.pending_labelled(name, value, keys)))

    async def _cancel(self, names: Sequence[str]) -> int:
        """Cancel what is pending of these names. Return how many there are."""
        found = await self._with_retries(lambda: self._ledger.cancel(names, cancelled))
        for name in found:
            self._pending.answer_cancelled(name)
        return len(found)

    async def put_suite(self, suite: Suite) -> bool:
        """See JobQueue."""
        return await self._with_retries(lambda: self._suites.put(suite))

    async def suite(self, suite_id: str) -> Suite | None:
        """See JobQueue."""
        return await self._with_retries(lambda: self._suites.get(suite_id))

    def learn_suite(self, facts: Suite) -> None:
        """See ObservedQueue."""
        self._suites.learn(facts)

    async def missing_suites(self, suite_ids: Sequence[str]) -> list[str]:
        """See JobQueue."""
        return await self._with_retries(lambda: self._suites.missing(suite_ids))

    def depth(self) -> Depth:
        """See JobQueue: of the fleet, as last read."""
        return self._status.depth()

    def workers(self) -> list[WorkerStatus]:
        """See JobQueue."""
        return self._status.workers()

    def counts(self) -> dict[str, int]:
        """See JobQueue: of the fleet, and of the watchdog of this process."""
        return dict(Counter(self._status.counts()) + self._replies.counts + self._watchdog.counts)

    def unready(self) -> list[str]:
        """See JobQueue."""
        if self._closing:
            return ["closing"]
        if self._defect:
            return [self._defect]
        away = self._ledger.outage.reason
        return [f"Redis: {away}"] if away else self._status.unready()

    def languages(self) -> list[str]:
        """See JobQueue."""
        return sorted({language for worker in self.workers() for language in worker.languages})

    async def drain(self, seconds: float) -> None:
        """See JobQueue. Submissions that are not answered by then are graded all the same."""
        self._observers.closing()
        self._closing = True
        answers = [pending.answer for pending in self._pending if pending.waiters]
        if answers:
            await asyncio.wait(answers, timeout=seconds)
        self._pending.give_up("the service is closing; send it again elsewhere")

    async def close(self) -> None:
        """See JobQueue."""
        await self.drain(0.0)
        await cancel_tasks(self._tasks)
        self._waker.close()

    # --- upkeep

    async def _tick(self) -> None:
        looked_at = noted_at = 0.0
        while True:
            await asyncio.sleep(TICK_SECONDS)
            await self._release()
            await self._watchdog.resend()
            if time.monotonic() - noted_at >= NOTE_SECONDS:
                noted_at = time.monotonic()
                await self._ledger.note_format()
            if time.monotonic() - looked_at >= STATE_SECONDS:
                looked_at = time.monotonic()
                await self.quotas.flush()
                await self._refresh()
                await self._reaper.look()
                self._pending.forget_cancelled(REPLY_SECONDS)
                await self._watchdog.look(has_lost=is_recent_loss(self._status.lost_seconds))
                await self._suites.keep(self._pending.suites())

    async def _refresh(self) -> None:
        need = await self._status.refresh()
        self._ledger.outage.succeeded()
        if need.waiting:
            self._waker.note(need)

    async def _release(self) -> None:
        """Tell the ledger which submissions no caller waits for here, unless one has joined since."""
        released = [each for each in self._pending.released if each not in self._pending]
        self._pending.released, self._releasing = [], frozenset(released)
        try:
            await self._ledger.release(self.name, released)
        except BaseException:
            self._pending.released += released
            raise
        finally:
            self._releasing = frozenset()
            self._has_released.set()

    async def _until_released(self, submission_ids: Iterable[str]) -> None:
        """Wait for a release that is under way: it would release a submission that is joined meanwhile."""
        while not self._releasing.isdisjoint(submission_ids):
            self._has_released.clear()
            await self._has_released.wait()

    async def _resubmit(self, jobs: Sequence[Job]) -> None:
        """Submit jobs that were taken before. Raises IdReusedError, redis.RedisError."""
        taken, need = await self._ledger.submit([self._entry(job) for job in jobs], self.name, NO_BOUNDS)
        self._waker.note(need)
        for job, (state, answer) in zip(jobs, taken, strict=True):
            if answer is not None:
                self._pending.answer(job.name, self._replies.read(job.id, answer, cached=state == "cached"))

    async def _restarted(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run a background task, again after each error of Redis. Any other exception is a defect and ends it."""
        while True:
            try:
                await work()
            except (RedisError, OSError) as error:
                self._ledger.outage.failed(error)
            await asyncio.sleep(RETRY_SECONDS)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        """Refuse everything after a defect: without its background tasks the queue answers nothing."""
        if task.cancelled() or self._closing:
            return
        log.critical("internal_error", exc_info=task.exception())
        self._defect = f"a defect of the service ({type(task.exception()).__name__}); it is in the log"
        self._pending.give_up(f"{self._defect}; send it again elsewhere")

    async def _with_retries(self, action: Callable[[], Awaitable[T]]) -> T:
        return await with_retries(action, lambda: self._closing)
