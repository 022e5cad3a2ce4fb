"""The queue of one machine: this process, its slot processes, and nothing else.

A submission is in exactly one of three places: the backlog, the crew's hands, or answered.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version

from sandbox_service.answers import Answer, again, fault
from sandbox_service.bounds import Bounds
from sandbox_service.crew import Crew, Task
from sandbox_service.errors import Unavailable
from sandbox_service.queues.backlog import Backlog, Load, Waiting, check_fits, load_of
from sandbox_service.queues.base import Depth, Job, Ticket, WorkerStatus, distinct, reused
from sandbox_service.queues.estimate import Estimate
from sandbox_service.queues.ticket import SharedTicket
from sandbox_service.slots import SlotFactory, SlotProcess
from sandbox_service.suites import Shelf, Suite

HOLD_SECONDS = 10.0  # what was taken waits so long for a slot that works
REMEMBERED = 100_000
REMEMBERED_BYTES = 64 << 20
REMEMBERED_SECONDS = 600.0
MOST_SUITES = 100_000


class _Taken:
    """A submission that was taken and is not yet answered."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.waiters = 0
        self.keep = job.keep
        self.task: Task | None = None
        self.attempts = 0
        self.taken = time.monotonic()

    @property
    def id(self) -> str:
        """The submission's."""
        return self.job.id

    @property
    def is_wanted(self) -> bool:
        """Whether somebody waits for it, or it is to be kept."""
        return self.waiters > 0 or self.keep


class _Answered:
    """The ticket of a submission that had its answer already."""

    def __init__(self, submission_id: str, answer: Answer) -> None:
        self.id = submission_id
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.answer.set_result(answer)

    def release(self) -> None:
        pass


class LocalQueue:
    """Bounded, in memory."""

    def __init__(
        self,
        make_slot: SlotFactory,
        slots: int,
        bounds: Bounds,
        suite_bytes: int = 256 << 20,
        cache_seconds: float = 0.0,
    ) -> None:
        self._bounds = bounds
        self._backlog = Backlog(bounds, slots)
        self._estimate = Estimate()
        self._jobs: dict[str, _Taken] = {}
        self._answered = _Memory(REMEMBERED_SECONDS)
        self._faults = _Memory(REMEMBERED_SECONDS)  # for who asks later; who submits it again has it graded again
        self._cache = _Memory(cache_seconds)
        self._suites: Shelf[Suite] = Shelf(MOST_SUITES, suite_bytes)
        self._counts: Counter[str] = Counter()
        self._closing = False
        self._crew = Crew(make_slot, slots, self)

    # --- what the API calls

    async def submit(self, jobs: Sequence[Job]) -> list[Ticket]:
        """Take all or none; see JobQueue."""
        new = [job for job in distinct(jobs) if not self._is_known(job)]
        if new:
            self._check_open()
            self._check_room(new)
        tickets = [self._ticket(job) for job in jobs]
        self.crew_idle()
        return tickets

    def _is_known(self, job: Job) -> bool:
        """Whether this very submission was taken before."""
        taken = self._jobs.get(job.id)
        known = taken.job.digest if taken else self._answered.digest(job.id)
        if known is not None and known != job.digest:
            raise reused(job.id)
        return known is not None

    def _check_open(self) -> None:
        if self._closing:
            raise Unavailable("the service is closing")
        if self._crew.unusable_seconds() is not None:
            raise Unavailable("nothing can be graded: " + "; ".join(self.unready()))

    def _check_room(self, jobs: Sequence[Job]) -> None:
        check_fits(map(self._load, jobs), self._bounds)
        wanted: dict[str, Load] = {}
        for job in jobs:
            wanted.setdefault(job.client, Load()).add(self._load(job))
        for client, load in wanted.items():
            self._backlog.check_room(client, load)

    def _load(self, job: Job) -> Load:
        return load_of(job, self._estimate)

    def _ticket(self, job: Job) -> Ticket:
        taken = self._jobs.get(job.id)
        if taken is not None:
            taken.keep |= job.keep
            return SharedTicket(taken, self._released)
        known = self._answered.get(job.id) or self._cached(job)
        return _Answered(job.id, known) if known is not None else SharedTicket(self._take(job), self._released)

    def _cached(self, job: Job) -> Answer | None:
        found = None if job.fresh else self._cache.get(job.digest.hex())
        if found is None:
            return None
        self._counts["cached"] += 1
        answer = again(found, job.id)
        self._answered.put(job.id, job.digest, answer)
        return answer

    def _take(self, job: Job) -> _Taken:
        taken = self._jobs[job.id] = _Taken(job)
        self._faults.drop(job.id)
        self._backlog.add(Waiting(job.id, job.client, job.priority, self._load(job)))
        return taken

    def _released(self, taken: _Taken) -> None:
        """One waiter less; when there is none left, it is not to be graded."""
        if taken.is_wanted or taken.answer.done():
            return
        if taken.task is not None:
            self._crew.cancel(taken.task)
        else:
            self._forget(taken)
            taken.answer.cancel()

    async def find(self, submission_id: str) -> Ticket | None:
        """See JobQueue."""
        taken = self._jobs.get(submission_id)
        if taken is not None:
            return SharedTicket(taken, self._released)
        answer = self._answered.get(submission_id) or self._faults.get(submission_id)
        return _Answered(submission_id, answer) if answer is not None else None

    async def cancel(self, submission_ids: Sequence[str]) -> int:
        """See JobQueue."""
        found = [self._jobs[each] for each in dict.fromkeys(submission_ids) if each in self._jobs]
        for taken in found:
            self._answer(taken, fault(taken.job.id, taken.job.tests, "cancelled", "cancelled on request"))
            if taken.task is not None:
                self._crew.cancel(taken.task)
        self._counts["cancelled"] += len(found)
        return len(found)

    async def labelled(self, name: str, value: str) -> list[str]:
        """See JobQueue."""
        return [taken.job.id for taken in self._jobs.values() if taken.job.labels.get(name) == value]

    async def put_suite(self, suite: Suite) -> bool:
        """See JobQueue."""
        is_new = suite.id not in self._suites
        self._suites.put(suite.id, suite, len(suite.body))
        return is_new

    async def suite(self, suite_id: str) -> Suite | None:
        """See JobQueue."""
        return self._suites.get(suite_id)

    async def missing_suites(self, suite_ids: Sequence[str]) -> list[str]:
        """See JobQueue."""
        return [each for each in suite_ids if self._suites.get(each) is None]

    def depth(self) -> Depth:
        """See JobQueue."""
        return self._backlog.depth()

    def workers(self) -> list[WorkerStatus]:
        """See JobQueue: this process."""
        crew = self._crew
        return [
            WorkerStatus(
                "local", len(crew.slots), crew.busy, crew.ready, crew.languages(), version("proctor"), crew.reasons()
            )
        ]

    def counts(self) -> dict[str, int]:
        """See JobQueue."""
        return dict(self._counts)

    @property
    def slots(self) -> Sequence[SlotProcess]:
        """The slots, for tests."""
        return self._crew.slots

    @property
    def is_hopeless(self) -> bool:
        """Whether every slot has tried, and none can grade."""
        return self._crew.unusable_seconds() is not None

    def unready(self) -> list[str]:
        """See JobQueue."""
        return ["closing"] if self._closing else self._crew.reasons()

    def languages(self) -> list[str]:
        """See JobQueue."""
        return self._crew.languages()

    async def drain(self, seconds: float) -> None:
        """See JobQueue."""
        self._closing = True
        pending = [taken.answer for taken in self._jobs.values()]
        if pending:
            await asyncio.wait(pending, timeout=seconds)
        self._give_up(list(self._jobs), "the service is closing; send it again elsewhere")

    def _give_up(self, submission_ids: Sequence[str], reason: str) -> None:
        for submission_id in submission_ids:
            taken = self._jobs[submission_id]
            self._forget(taken)
            if not taken.answer.done():
                taken.answer.set_exception(Unavailable(reason))
                taken.answer.exception()  # a batch may have gone: an answer that nobody reads is no error

    async def close(self) -> None:
        """Stop at once; see JobQueue."""
        await self.drain(0.0)
        await self._crew.close()

    # --- what the crew calls

    def crew_idle(self) -> None:
        """See crew.Owner: give it what is next."""
        while self._crew.idle and (submission_id := self._backlog.next()) is not None:
            taken = self._jobs[submission_id]
            job = taken.job
            taken.task = Task(job.id, job.body, job.suite, job.tests, taken=taken.taken, attempts=taken.attempts)
            self._crew.give(taken.task)

    def task_begun(self, task: Task) -> None:
        """See crew.Owner."""

    def task_done(self, task: Task, answer: Answer | None) -> None:
        """See crew.Owner. A cancellation that was carried out may be regretted: somebody has come to wait after all."""
        taken = self._jobs.get(task.id)
        if taken is None or taken.task is not task:
            return
        taken.task, taken.attempts = None, task.attempts
        if answer is not None:
            self._learn(taken.job, answer)
            self._answer(taken, answer)
        elif taken.is_wanted:
            self._backlog.put_back(task.id)
            self.crew_idle()
        else:
            self._forget(taken)
            taken.answer.cancel()

    def crew_failed(self) -> None:
        """See crew.Owner. If for a while no slot could grade, those who wait are told rather than kept."""
        seconds = self._crew.unusable_seconds()
        if seconds is not None and seconds >= HOLD_SECONDS:
            returned = [task.id for task in self._crew.take_back()]
            reason = "nothing can be graded: " + "; ".join(self.unready())
            self._give_up([each for each in (*returned, *self._backlog.waiting()) if each in self._jobs], reason)

    def _learn(self, job: Job, answer: Answer) -> None:
        """Keep what may be asked again."""
        self._estimate.learn(answer.head["timing"]["graded_seconds"], sum(answer.tests.values()))
        if not answer.is_fault:
            self._answered.put(job.id, job.digest, answer)
        if answer.is_lasting and not job.fresh:
            self._cache.put(job.digest.hex(), job.digest, answer)

    def _answer(self, taken: _Taken, answer: Answer) -> None:
        self._forget(taken)
        if answer.is_fault:
            self._faults.put(taken.job.id, taken.job.digest, answer)
        if not taken.answer.done():
            taken.answer.set_result(answer)

    def _forget(self, taken: _Taken) -> None:
        if self._jobs.get(taken.job.id) is taken:
            del self._jobs[taken.job.id]
            self._backlog.remove(taken.job.id)


class _Memory:
    """Answers that may be asked again, for a while and as many as fit."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._shelf: Shelf[tuple[float, bytes, Answer]] = Shelf(REMEMBERED, REMEMBERED_BYTES)

    def put(self, name: str, digest: bytes, answer: Answer) -> None:
        """Remember an answer from now on."""
        if self._seconds > 0:
            self._shelf.put(name, (time.monotonic(), digest, Answer(answer.body)), len(answer.body))

    def drop(self, name: str) -> None:
        """Remember it no more."""
        self._shelf.drop(name)

    def get(self, name: str) -> Answer | None:
        """The answer, if it is still remembered."""
        found = self._find(name)
        return found[2] if found else None

    def digest(self, name: str) -> bytes | None:
        """What the answer is an answer to."""
        found = self._find(name)
        return found[1] if found else None

    def _find(self, name: str) -> tuple[float, bytes, Answer] | None:
        found = self._shelf.get(name)
        if found is not None and time.monotonic() - found[0] > self._seconds:
            self._shelf.drop(name)
            return None
        return found
