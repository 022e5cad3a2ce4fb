"""The queue of one machine: submissions wait in this process and are graded by its slot processes.

A submission is in exactly one of three places: the backlog, the slot pool, or the remembered answers.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from importlib.metadata import version

from sandbox_service.bounds import Bounds
from sandbox_service.errors import UnavailableError
from sandbox_service.grading.encoded_grade import EncodedGrade, again, fault
from sandbox_service.grading.suites import LruCache, Suite
from sandbox_service.queues.answer_cache import AnswerCache
from sandbox_service.queues.backlog import Backlog, Load, Waiting, check_fits, load_of
from sandbox_service.queues.base import (
    NO_KEYS,
    Depth,
    Job,
    Waiter,
    WorkerStatus,
    check_memory,
    distinct,
    name_of,
    reused,
)
from sandbox_service.queues.estimate import Estimate
from sandbox_service.queues.observers import EventCollector, Observers, QueueObserver, Watched, WatchedWaiter
from sandbox_service.queues.quotas import LocalLevels, Quotas
from sandbox_service.queues.waiter import SharedWaiter
from sandbox_service.schema import FailureKind
from sandbox_service.slots.pool import UNBOUNDED_BYTES, SlotPool
from sandbox_service.slots.process import SlotFactory, SlotProcess
from sandbox_service.slots.tasks import Task

HOLD_SECONDS = 10.0  # submissions wait so long for a slot that works, then are refused
REMEMBERED_SECONDS = 600.0
MOST_SUITES = 100_000


class _Pending:
    """A submission that is not yet answered."""

    __slots__ = ("answer", "attempts", "job", "keep", "submitted_at", "task", "waiters", "watched")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.answer: asyncio.Future[EncodedGrade] = asyncio.get_running_loop().create_future()
        self.waiters = 0
        self.watched: Watched = []
        self.keep = job.keep
        self.task: Task | None = None
        self.attempts = 0
        self.submitted_at = time.monotonic()

    @property
    def id(self) -> str:
        """Return the submission's id."""
        return self.job.id

    @property
    def is_wanted(self) -> bool:
        """Return whether a caller waits for it or it must be graded in any case."""
        return self.waiters > 0 or self.keep


class _Answered:
    """The waiter of a submission that is answered already; see WatchedWaiter."""

    __slots__ = ("answer", "id", "watched")

    def __init__(self, submission_id: str, answer: EncodedGrade) -> None:
        self.id = submission_id
        self.answer: asyncio.Future[EncodedGrade] = asyncio.get_running_loop().create_future()
        self.answer.set_result(answer)
        self.watched: Watched = []

    def release(self) -> None:
        pass


class LocalQueue:
    """See JobQueue. Bounded, and in memory only."""

    def __init__(
        self,
        make_slot: SlotFactory,
        slots: int,
        bounds: Bounds,
        suite_bytes: int = 256 << 20,
        cache_seconds: float = 0.0,
        memory_bytes: int = UNBOUNDED_BYTES,
        quotas: Quotas | None = None,
    ) -> None:
        self._bounds = bounds
        self.quotas = quotas or Quotas({}, LocalLevels())
        self._backlog = Backlog(bounds, slots)
        self._estimate = Estimate()
        self._jobs: dict[str, _Pending] = {}
        self._answered = AnswerCache(REMEMBERED_SECONDS)
        self._faults = AnswerCache(REMEMBERED_SECONDS)  # found by `find`; submitting the id again grades it again
        self._cache = AnswerCache(cache_seconds)
        self._suites: LruCache[Suite] = LruCache(MOST_SUITES, suite_bytes)
        self._counts: Counter[str] = Counter()
        self._observers = Observers()
        self._closing = False
        self._pool = SlotPool(make_slot, slots, self, memory_bytes)

    # --- called by the API

    async def submit(self, jobs: Sequence[Job]) -> list[Waiter]:
        """See JobQueue."""
        began = time.monotonic()
        new = self._unknown(jobs)
        if self.quotas.are_any:
            await self.quotas.check(new)
            new = self._unknown(jobs)  # the same may have been submitted meanwhile
        loads: dict[str, Load] = {}
        if new:
            self._check_open()
            check_memory(new, self._pool.memory_bytes, "this machine")
            loads = self._check_room(new)
        waiters = [self._waiter(job, loads.pop(job.name, None)) for job in jobs]
        self.quotas.submitted(new)
        self.pool_idle()
        self._observers.watch(jobs, waiters, began)
        return list(waiters)

    def observe(self, observer: QueueObserver) -> None:
        """See ObservedQueue."""
        self._observers.add(observer)

    def collect(self, collector: EventCollector) -> None:
        """See ObservedQueue."""
        self._observers.collect(collector)

    def _unknown(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs that were not taken before, each once. Raises IdReusedError."""
        return [job for job in distinct(jobs) if not self._is_known(job)]

    def _is_known(self, job: Job) -> bool:
        """Return whether the same submission was taken before. Raises IdReusedError."""
        pending = self._jobs.get(job.name)
        known = pending.job.digest if pending else self._answered.digest(job.name)
        if known is not None and known != job.digest:
            raise reused(job.id)
        return known is not None

    def _check_open(self) -> None:
        if self._closing:
            raise UnavailableError("the service is closing")
        if self._pool.unusable_seconds() is not None:
            raise UnavailableError("nothing can be graded: " + "; ".join(self.unready()))

    def _check_room(self, jobs: Sequence[Job]) -> dict[str, Load]:
        """Return the load of each submission by name. Raise QueueFullError or BodyTooLargeError if there is no room."""
        loads: dict[str, Load] = {}
        wanted: defaultdict[str, Load] = defaultdict(Load)
        for job in jobs:
            load = loads[job.name] = load_of(job, self._estimate)
            wanted[job.client].add(load)
        check_fits(wanted.values(), self._bounds)
        for client, together in wanted.items():
            self._backlog.check_room(client, together)
        return loads

    def _waiter(self, job: Job, load: Load | None) -> WatchedWaiter:
        """Return a waiter for a job, and take it if it is new, which `load` says."""
        if load is not None:
            known = self._cached(job) if self._cache.keeps and not job.fresh else None
            return SharedWaiter(self._take(job, load), self._released) if known is None else _Answered(job.id, known)
        pending = self._jobs.get(job.name)
        if pending is None:
            known = self._answered.get(job.name)
            if known is not None:
                return _Answered(job.id, known)
            pending = self._take(job, load_of(job, self._estimate))  # the answer has expired just now
        pending.keep |= job.keep
        return SharedWaiter(pending, self._released)

    def _cached(self, job: Job) -> EncodedGrade | None:
        found = self._cache.get(job.digest)
        if found is None:
            return None
        self._counts["cached"] += 1
        answer = again(found, job.id)
        self._answered.put(job.name, job.digest, answer)
        return answer

    def _take(self, job: Job, load: Load) -> _Pending:
        pending = self._jobs[job.name] = _Pending(job)
        if self._faults.bytes:
            self._faults.drop(job.name)
        self._backlog.add(Waiting(job.name, job.client, job.priority, load, pending.submitted_at))
        return pending

    def _released(self, pending: _Pending) -> None:
        """Cancel a submission that no caller waits for."""
        if pending.answer.done() or pending.is_wanted:
            return
        if pending.task is not None:
            self._pool.cancel(pending.task)
        else:
            self._forget(pending)
            pending.answer.cancel()

    async def find(self, submission_id: str, keys: Sequence[str] = NO_KEYS) -> Waiter | None:
        """See JobQueue."""
        for name in (name_of(submission_id, key) for key in keys):
            pending = self._jobs.get(name)
            if pending is not None:
                return SharedWaiter(pending, self._released)
            answer = self._answered.get(name) or self._faults.get(name)
            if answer is not None:
                return _Answered(submission_id, answer)
        return None

    async def cancel(self, submission_ids: Sequence[str], keys: Sequence[str] = NO_KEYS) -> int:
        """See JobQueue."""
        names = dict.fromkeys(name_of(each, key) for each in submission_ids for key in keys)
        return self._cancel([self._jobs[name] for name in names if name in self._jobs])

    async def cancel_labelled(self, name: str, value: str, keys: Sequence[str] = NO_KEYS) -> int:
        """See JobQueue."""
        jobs = ((pending, pending.job) for pending in self._jobs.values())
        return self._cancel([pending for pending, job in jobs if job.labels.get(name) == value and job.key in keys])

    def _cancel(self, found: Sequence[_Pending]) -> int:
        """Cancel what is pending. Return how many there are."""
        for pending in found:
            self._answer(
                pending, fault(pending.job.id, pending.job.tests, FailureKind.CANCELLED, "cancelled on request")
            )
            if pending.task is not None:
                self._pool.cancel(pending.task)
        self._counts["cancelled"] += len(found)
        return len(found)

    async def put_suite(self, suite: Suite) -> bool:
        """See JobQueue."""
        is_new = suite.id not in self._suites
        self._suites.put(suite.id, suite, len(suite.body))
        return is_new

    async def suite(self, suite_id: str) -> Suite | None:
        """See JobQueue."""
        return self._suites.get(suite_id)

    def learn_suite(self, facts: Suite) -> None:
        """See ObservedQueue. Every suite here is read already."""

    async def missing_suites(self, suite_ids: Sequence[str]) -> list[str]:
        """See JobQueue."""
        return [each for each in suite_ids if self._suites.get(each) is None]

    def depth(self) -> Depth:
        """See JobQueue."""
        return self._backlog.depth()

    def workers(self) -> list[WorkerStatus]:
        """See JobQueue: one, this process."""
        pool = self._pool
        return [
            WorkerStatus(
                "local",
                len(pool.slots),
                pool.busy,
                pool.ready,
                pool.languages(),
                version("proctor"),
                pool.reasons(),
                pool.memory_bytes,
            )
        ]

    def counts(self) -> dict[str, int]:
        """See JobQueue."""
        return dict(self._counts)

    @property
    def slots(self) -> Sequence[SlotProcess]:
        """Return the slots, for tests."""
        return self._pool.slots

    @property
    def is_hopeless(self) -> bool:
        """Return whether every slot has started and none can grade."""
        return self._pool.unusable_seconds() is not None

    def unready(self) -> list[str]:
        """See JobQueue."""
        return ["closing"] if self._closing else self._pool.reasons()

    def languages(self) -> list[str]:
        """See JobQueue."""
        return self._pool.languages()

    async def drain(self, seconds: float) -> None:
        """See JobQueue."""
        self._observers.closing()
        self._closing = True
        answers = [pending.answer for pending in self._jobs.values()]
        if answers:
            await asyncio.wait(answers, timeout=seconds)
        self._give_up(list(self._jobs), "the service is closing; send it again elsewhere")

    def _give_up(self, names: Sequence[str], reason: str) -> None:
        for name in names:
            pending = self._jobs[name]
            self._forget(pending)
            if not pending.answer.done():
                pending.answer.set_exception(UnavailableError(reason))
                pending.answer.exception()  # marks it as retrieved: the waiters may be gone

    async def close(self) -> None:
        """See JobQueue; stop at once."""
        await self.drain(0.0)
        await self._pool.close()

    # --- called by the pool

    def pool_idle(self) -> None:
        """See PoolOwner."""
        for _ in range(self._pool.idle):
            name = self._backlog.next()
            if name is None:
                return
            pending = self._jobs[name]
            job = pending.job
            pending.task = Task(
                name,
                job.body,
                job.suite,
                job.tests,
                submitted_at=pending.submitted_at,
                attempts=pending.attempts,
                priority=job.priority,
                shown_id=job.id,
                has_default_memory=job.has_default_memory,
            )
            self._pool.give(pending.task)

    def most_urgent(self) -> int | None:
        """See PoolOwner."""
        return self._backlog.most_urgent()

    def task_begun(self, task: Task) -> None:
        """See PoolOwner."""

    def task_done(self, task: Task, answer: EncodedGrade | None) -> None:
        """See PoolOwner. A cancelled task goes back to the backlog if a caller has joined it since."""
        pending = self._jobs.get(task.id)
        if pending is None or pending.task is not task:
            return
        pending.task, pending.attempts = None, task.attempts
        if answer is not None:
            self._learn(pending.job, answer)
            self._answer(pending, answer)
        elif pending.is_wanted:
            self._backlog.put_back(task.id)
            self.pool_idle()
        else:
            self._forget(pending)
            pending.answer.cancel()

    def pool_failed(self) -> None:
        """See PoolOwner. Refuses everything that waits when no slot has worked for `HOLD_SECONDS`."""
        seconds = self._pool.unusable_seconds()
        if seconds is not None and seconds >= HOLD_SECONDS:
            returned = [task.id for task in self._pool.take_back()]
            reason = "nothing can be graded: " + "; ".join(self.unready())
            self._give_up([each for each in (*returned, *self._backlog.waiting()) if each in self._jobs], reason)

    def _learn(self, job: Job, answer: EncodedGrade) -> None:
        """Update the estimate and the cache."""
        self._estimate.learn(answer.head["timing"]["graded_seconds"], sum(answer.tests.values()))
        if self._cache.keeps and answer.is_lasting and not job.fresh:
            self._cache.put(job.digest, job.digest, answer)

    def _answer(self, pending: _Pending, answer: EncodedGrade) -> None:
        """Remember an answer, and give it to all who wait."""
        self._forget(pending)
        kept = self._faults if answer.is_fault else self._answered
        kept.put(pending.job.name, pending.job.digest, answer)
        if not pending.answer.done():
            pending.answer.set_result(answer)
            self._observers.answered(pending.watched, answer)

    def _forget(self, pending: _Pending) -> None:
        name = pending.job.name
        if self._jobs.get(name) is pending:
            del self._jobs[name]
            self._backlog.remove(name)
