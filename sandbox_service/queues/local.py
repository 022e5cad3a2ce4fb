"""The queue of one machine: submissions wait in this process and are graded by its slot processes.

A submission is in exactly one of three places: the backlog, the slot pool, or the remembered answers.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from sandbox_service.bounds import Bounds
from sandbox_service.errors import UnavailableError
from sandbox_service.grading.encoded_grade import EncodedGrade, again, fault
from sandbox_service.grading.suites import LruCache, Suite
from sandbox_service.queues.answer_cache import AnswerCache
from sandbox_service.queues.backlog import Backlog, Load, Waiting, check_fits, load_of
from sandbox_service.queues.base import (
    Depth,
    Job,
    Waiter,
    WorkerStatus,
    check_memory,
    distinct,
    is_marked,
    is_own,
    reused,
)
from sandbox_service.queues.estimate import Estimate
from sandbox_service.queues.observers import Observers, QueueObserver
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

    def __init__(self, job: Job) -> None:
        self.job = job
        self.answer: asyncio.Future[EncodedGrade] = asyncio.get_running_loop().create_future()
        self.waiters = 0
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
    """The waiter of a submission that is answered already; see base.Waiter."""

    def __init__(self, submission_id: str, answer: EncodedGrade) -> None:
        self.id = submission_id
        self.answer: asyncio.Future[EncodedGrade] = asyncio.get_running_loop().create_future()
        self.answer.set_result(answer)

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
        if new:
            self._check_open()
            check_memory(new, self._pool.memory_bytes, "this machine")
        loads = self._check_room(new)
        waiters = [self._waiter(job, loads) for job in jobs]
        self.quotas.submitted(new)
        self.pool_idle()
        self._observers.watch(jobs, waiters, began)
        return waiters

    def observe(self, observer: QueueObserver) -> None:
        """See ObservedQueue."""
        self._observers.add(observer)

    def _unknown(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs that were not taken before, each once. Raises IdReusedError."""
        return [job for job in distinct(jobs) if not self._is_known(job)]

    def _is_known(self, job: Job) -> bool:
        """Return whether the same submission was taken before. Raises IdReusedError."""
        pending = self._jobs.get(job.id)
        known = pending.job.digest if pending else self._answered.digest(job.id)
        if known is not None and known != job.digest:
            raise reused(job.id)
        return known is not None

    def _check_open(self) -> None:
        if self._closing:
            raise UnavailableError("the service is closing")
        if self._pool.unusable_seconds() is not None:
            raise UnavailableError("nothing can be graded: " + "; ".join(self.unready()))

    def _check_room(self, jobs: Sequence[Job]) -> dict[str, Load]:
        """Return the load of each submission by id. Raise QueueFullError or BodyTooLargeError if there is no room."""
        loads = {job.id: load_of(job, self._estimate) for job in jobs}
        wanted: defaultdict[str, Load] = defaultdict(Load)
        for job in jobs:
            wanted[job.client].add(loads[job.id])
        check_fits(wanted.values(), self._bounds)
        for client, together in wanted.items():
            self._backlog.check_room(client, together)
        return loads

    def _waiter(self, job: Job, loads: Mapping[str, Load]) -> Waiter:
        pending = self._jobs.get(job.id)
        if pending is not None:
            pending.keep |= job.keep
            return SharedWaiter(pending, self._released)
        known = self._answered.get(job.id) or self._cached(job)
        return _Answered(job.id, known) if known is not None else SharedWaiter(self._take(job, loads), self._released)

    def _cached(self, job: Job) -> EncodedGrade | None:
        found = None if job.fresh else self._cache.get(job.digest.hex())
        if found is None:
            return None
        self._counts["cached"] += 1
        answer = again(found, job.id)
        self._answered.put(job.id, job.digest, answer)
        return answer

    def _take(self, job: Job, loads: Mapping[str, Load]) -> _Pending:
        pending = self._jobs[job.id] = _Pending(job)
        self._faults.drop(job.id)
        self._backlog.add(Waiting(job.id, job.client, job.priority, loads[job.id]))
        return pending

    def _released(self, pending: _Pending) -> None:
        """Cancel a submission that no caller waits for."""
        if pending.is_wanted or pending.answer.done():
            return
        if pending.task is not None:
            self._pool.cancel(pending.task)
        else:
            self._forget(pending)
            pending.answer.cancel()

    async def find(self, submission_id: str, owner: str | None = None) -> Waiter | None:
        """See JobQueue."""
        pending = self._jobs.get(submission_id)
        if pending is not None:
            return SharedWaiter(pending, self._released) if is_own(pending.job.client, owner) else None
        for kept in (self._answered, self._faults):
            answer = kept.get(submission_id)
            if answer is not None:
                return _Answered(submission_id, answer) if is_marked(kept.digest(submission_id), owner) else None
        return None

    async def cancel(self, submission_ids: Sequence[str], owner: str | None = None) -> int:
        """See JobQueue."""
        known = [self._jobs[each] for each in dict.fromkeys(submission_ids) if each in self._jobs]
        found = [pending for pending in known if is_own(pending.job.client, owner)]
        for pending in found:
            self._answer(
                pending, fault(pending.job.id, pending.job.tests, FailureKind.CANCELLED, "cancelled on request")
            )
            if pending.task is not None:
                self._pool.cancel(pending.task)
        self._counts["cancelled"] += len(found)
        return len(found)

    async def labelled(self, name: str, value: str) -> list[str]:
        """See JobQueue."""
        return [pending.job.id for pending in self._jobs.values() if pending.job.labels.get(name) == value]

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

    def _give_up(self, submission_ids: Sequence[str], reason: str) -> None:
        for submission_id in submission_ids:
            pending = self._jobs[submission_id]
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
        while self._pool.idle and (submission_id := self._backlog.next()) is not None:
            pending = self._jobs[submission_id]
            job = pending.job
            pending.task = Task(
                job.id,
                job.body,
                job.suite,
                job.tests,
                submitted_at=pending.submitted_at,
                attempts=pending.attempts,
                priority=job.priority,
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
        """Update the estimate, the remembered answers and the cache."""
        self._estimate.learn(answer.head["timing"]["graded_seconds"], sum(answer.tests.values()))
        if not answer.is_fault:
            self._answered.put(job.id, job.digest, answer)
        if answer.is_lasting and not job.fresh:
            self._cache.put(job.digest.hex(), job.digest, answer)

    def _answer(self, pending: _Pending, answer: EncodedGrade) -> None:
        self._forget(pending)
        if answer.is_fault:
            self._faults.put(pending.job.id, pending.job.digest, answer)
        if not pending.answer.done():
            pending.answer.set_result(answer)

    def _forget(self, pending: _Pending) -> None:
        if self._jobs.get(pending.job.id) is pending:
            del self._jobs[pending.job.id]
            self._backlog.remove(pending.job.id)
