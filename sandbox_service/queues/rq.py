"""The queue of a fleet: submissions go into the ledger, workers are called by RQ jobs, answers come back by a stream.

This process keeps every submission that somebody waits for here until it is answered. Answers are read without being
taken from the stream, and every two seconds what is still waited for is looked up: an answer that did not arrive is
fetched, and what Redis has forgotten is submitted again.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import platform
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from redis.exceptions import RedisError

from sandbox_service.answers import Answer, again, fault
from sandbox_service.bounds import Bounds
from sandbox_service.chores import end
from sandbox_service.errors import IdReused, Unavailable
from sandbox_service.hands import Caller
from sandbox_service.ledger.entries import Entry, Need, Taken, Terms, Totals, WorkerState
from sandbox_service.ledger.ledger import Ledger
from sandbox_service.ledger.pace import gathering_seconds
from sandbox_service.queues.backlog import check_fits, load_of
from sandbox_service.queues.base import Depth, Job, Ticket, WorkerStatus, distinct
from sandbox_service.queues.estimate import Estimate
from sandbox_service.queues.patience import RETRY_SECONDS, patiently
from sandbox_service.queues.reaper import Reaper
from sandbox_service.queues.suite_store import SuiteStore
from sandbox_service.queues.ticket import SharedTicket
from sandbox_service.queues.together import Together
from sandbox_service.suites import Suite

T = TypeVar("T")
log = logging.getLogger(__name__)

TICK_SECONDS = 0.25
STATE_SECONDS = 0.5
WORKERS_A_SECOND = 200  # so many we read, to know what they are like: with more workers, each of them less often
ENOUGH_SECONDS = 0.01
WATCH_SECONDS = 2.0
WATCHED_AT_ONCE = 2048
REPLY_SECONDS = 5.0
MOST_SENT = 2
MOST_GATHERING_SECONDS = 0.1
LAST_SECONDS = 0.002  # for each that is still waited for: the last few need not gather, for they are few


class _Waited:
    """A submission that somebody here waits for, or that is kept for whoever asks."""

    __slots__ = ("answer", "id", "is_due", "is_known", "job", "keep", "looked", "sent", "since", "waiters")

    def __init__(self, job_id: str, job: Job | None, keep: bool) -> None:
        self.id = job_id
        self.job = job  # None: it was taken by another process
        self.keep = keep
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.waiters = 0
        self.is_known = False  # to the ledger
        self.is_due = False  # it was answered already when the watchdog last looked
        self.sent = 0  # how often again, because a worker had not found its suite
        self.since = self.looked = time.monotonic()


class RqQueue:
    """See JobQueue. `start` it in the event loop that uses it."""

    def __init__(
        self,
        ledger: Ledger,
        caller: Caller,
        bounds: Bounds,
        suite_bytes: int = 256 << 20,
        cache_seconds: float = 0.0,
    ) -> None:
        self._ledger = ledger
        self._caller = caller
        self._bounds = bounds
        self._caches = cache_seconds > 0
        self.name = f"{platform.node()}.{os.getpid()}.{secrets.token_hex(3)}"
        self._estimate = Estimate()
        self._waited: dict[str, _Waited] = {}
        self._suites = SuiteStore(ledger, suite_bytes)
        self._together = Together(self._submit_entries)
        self._released: list[str] = []
        self._releasing: frozenset[str] = frozenset()  # of these the ledger is being told
        self._has_told = asyncio.Event()
        self._told: dict[str, float] = {}  # who waited here for these knows that they were cancelled, and since when
        self._without_suite: list[_Waited] = []
        self._need = Need(0, 0, 0)
        self._has_need = asyncio.Event()
        self._totals = Totals(0, 0, 0, 0.0, 0.0, 0, {})
        self._workers: dict[str, WorkerState] = {}
        self._saw_workers = 0.0
        self._graders = ""  # of what kind they are, if answers are cached
        self._counts: Counter[str] = Counter()
        self._reaper = Reaper(ledger, self.name)
        self._away = "not yet connected"
        self._defect = ""
        self._closing = False
        self._chores: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to listen for answers, call for hands and keep watch."""
        try:
            await self._look_around()
        except (RedisError, OSError) as trouble:
            self._away = str(trouble)
        chores = (self._listen, self._call, self._tick)
        self._chores = [asyncio.create_task(self._supervised(chore)) for chore in chores]
        for chore in self._chores:
            chore.add_done_callback(self._has_ended)

    # --- what the API calls

    async def submit(self, jobs: Sequence[Job]) -> list[Ticket]:
        """Take all or none; see JobQueue."""
        if self._closing or self._defect:
            raise Unavailable(self._defect or "the service is closing")
        each = distinct(jobs)
        check_fits((load_of(job, self._estimate) for job in each if not self._is_waited_for(job)), self._bounds)
        waited = {job.id: self._wait_for(job) for job in each}
        tickets = [SharedTicket(waited[job.id], self._released_by) for job in jobs]  # before any answer can come
        try:
            taken = await self._submit(each)
        except BaseException:
            for ticket in tickets:
                ticket.release()
            raise
        for job, (state, answer) in zip(each, taken, strict=True):
            self._was_taken(job, waited[job.id])
            if answer is not None:
                self._arrived(job.id, self._read(job.id, answer, cached=state == "cached"))
        return list(tickets)

    def _is_waited_for(self, job: Job) -> bool:
        waited = self._waited.get(job.id)
        return waited is not None and waited.job is not None and waited.job.digest == job.digest

    def _wait_for(self, job: Job) -> _Waited:
        waited = self._waited.get(job.id)
        if waited is None or (waited.job is not None and waited.job.digest != job.digest):
            # in the second case the ledger will refuse this one, or else the other has ended
            waited = _Waited(job.id, job, keep=False)
            self._waited.setdefault(job.id, waited)
        return waited

    def _was_taken(self, job: Job, waited: _Waited) -> None:
        waited.is_known = True
        waited.job = waited.job or job
        waited.keep |= job.keep
        other = self._waited.setdefault(job.id, waited) if not waited.answer.done() else waited
        if other is not waited:
            # the ledger has taken this body, so the other's time is over, and we have not yet heard of it
            self._tell_cancelled(job.id)
            self._waited[job.id] = waited

    def _tell_cancelled(self, submission_id: str) -> None:
        """Whoever waits here need not wait for the stream; and what the stream will say is not for who comes next."""
        waited = self._waited.get(submission_id)
        if waited is not None:
            tests = waited.job.tests if waited.job else 0
            self._arrived(submission_id, Answer(_cancelled(submission_id, tests)))
            self._told[submission_id] = time.monotonic()

    async def _submit(self, jobs: Sequence[Job]) -> list[Taken]:
        entries = [self._entry(job) for job in jobs]
        await self._patiently(lambda: self._suites.ensure(job.suite for job in jobs))
        await self._until_told(job.id for job in jobs)
        return await self._patiently(lambda: self._together.submit(entries))

    async def _submit_entries(self, entries: Sequence[Entry]) -> list[Taken]:
        taken, need = await self._ledger.submit(entries, self.name, self._bounds)
        self._note_need(need)
        return taken

    def _entry(self, job: Job) -> Entry:
        return Entry(job.id, job.digest, job.body, self._terms(job), job.own_bytes)

    def _terms(self, job: Job) -> Terms:
        return Terms(
            suite=job.suite.id,
            client=job.client,
            priority=job.priority,
            cost=self._estimate.cost(job.tests),
            tests=job.tests,
            graders="" if job.fresh else self._graders,
            labels=tuple(job.labels.items()),
            keep=job.keep,
        )

    def _released_by(self, waited: _Waited) -> None:
        """One waiter less; when there is none left here, the ledger is told."""
        if waited.waiters or waited.keep or waited.answer.done():
            return
        if self._waited.get(waited.id) is waited:
            del self._waited[waited.id]
            self._released.append(waited.id)
        waited.answer.cancel()

    async def find(self, submission_id: str) -> Ticket | None:
        """See JobQueue."""
        if self._defect:
            raise Unavailable(self._defect)
        waited = self._waited.get(submission_id)
        if waited is not None and waited.is_known:
            return SharedTicket(waited, self._released_by)
        waited = self._waited.setdefault(submission_id, _Waited(submission_id, None, keep=False))
        ticket = SharedTicket(waited, self._released_by)
        try:
            await self._until_told([submission_id])
            found = await self._patiently(lambda: self._ledger.join(submission_id, self.name))
        except BaseException:
            ticket.release()
            raise
        if found.state == "answered":
            self._arrived(submission_id, self._read(submission_id, found.answer, found.cached))
        elif found.state == "gone" and not waited.is_known and not waited.answer.done():
            ticket.release()
            return None
        waited.is_known = True
        return ticket

    async def cancel(self, submission_ids: Sequence[str]) -> int:
        """See JobQueue."""
        struck = await self._patiently(lambda: self._ledger.cancel(submission_ids, _cancelled))
        for submission_id in struck:
            self._tell_cancelled(submission_id)
        return len(struck)

    async def labelled(self, name: str, value: str) -> list[str]:
        """See JobQueue."""
        return await self._patiently(lambda: self._ledger.pending_labelled(name, value))

    async def put_suite(self, suite: Suite) -> bool:
        """See JobQueue."""
        return await self._patiently(lambda: self._suites.put(suite))

    async def suite(self, suite_id: str) -> Suite | None:
        """See JobQueue."""
        return await self._patiently(lambda: self._suites.get(suite_id))

    async def missing_suites(self, suite_ids: Sequence[str]) -> list[str]:
        """See JobQueue."""
        return await self._patiently(lambda: self._suites.missing(suite_ids))

    def depth(self) -> Depth:
        """See JobQueue: the fleet's, as of the last look."""
        totals = self._totals
        return Depth(totals.count, totals.waiting, totals.bytes, totals.cost, totals.oldest_seconds)

    def workers(self) -> list[WorkerStatus]:
        """See JobQueue."""
        return [
            WorkerStatus(
                name,
                state.slots,
                state.busy,
                state.ready_slots,
                [str(each) for each in state.info.get("languages", [])],  # type: ignore[attr-defined]
                str(state.info.get("version", "")),
            )
            for name, state in sorted(self._workers.items())
        ]

    def counts(self) -> dict[str, int]:
        """See JobQueue: the fleet's, and this process's watchdog."""
        return dict(Counter(self._totals.stats) + self._counts)

    def unready(self) -> list[str]:
        """See JobQueue."""
        if self._closing:
            return ["closing"]
        if self._defect:
            return [self._defect]
        if self._away:
            return [f"Redis: {self._away}"]
        if not self._workers:
            return ["no worker is registered: start one with `proctor worker`"]
        if not any(worker.ready_slots for worker in self._workers.values()):
            return [f"worker {name}: no usable jail" for name in sorted(self._workers)]
        return []

    def languages(self) -> list[str]:
        """See JobQueue."""
        return sorted({language for worker in self.workers() for language in worker.languages})

    async def drain(self, seconds: float) -> None:
        """See JobQueue. What is not answered by then goes on being graded: send it again to another API process."""
        self._closing = True
        pending = [waited.answer for waited in self._waited.values() if waited.waiters]
        if pending:
            await asyncio.wait(pending, timeout=seconds)
        self._give_up("the service is closing; send it again elsewhere")

    def _give_up(self, reason: str) -> None:
        """Tell all who wait here; what they wait for goes on being graded."""
        for waited in list(self._waited.values()):
            if not waited.answer.done():
                waited.answer.set_exception(Unavailable(reason))
                waited.answer.exception()  # a batch may have gone: an answer that nobody reads is no error
        self._waited.clear()

    async def close(self) -> None:
        """See JobQueue."""
        await self.drain(0.0)
        await end(self._chores)
        self._caller.close()

    # --- answers

    async def _listen(self) -> None:
        last, kept = "0", 0.0
        while True:
            if time.monotonic() - kept > REPLY_SECONDS:
                last = last if await self._ledger.keep_replies(self.name) else "0"
                kept = time.monotonic()
            replies = await self._ledger.replies(self.name, last, REPLY_SECONDS)
            ages = [self._heard(reply.id, self._read(reply.id, reply.answer)) for reply in replies]
            if replies:
                last = replies[-1].stream_id
                pause = gathering_seconds(len(replies), min(ages), MOST_GATHERING_SECONDS)
                await asyncio.sleep(min(pause, LAST_SECONDS * len(self._waited)))

    def _read(self, submission_id: str, body: bytes | None, cached: bool = False) -> Answer:
        """What Redis holds for an answer; our fault if it is none."""
        answer = Answer(body or b"")
        if not answer.is_whole:
            self._counts["refused"] += 1
            return fault(submission_id, 0, "unreadable_answer", "what Redis holds for an answer is none")
        return again(answer, submission_id) if cached else answer

    def _heard(self, submission_id: str, answer: Answer) -> float:
        """As `_arrived`, for what the stream says."""
        kind = answer.head["failure_kind"]
        if kind == "cancelled" and self._told.pop(submission_id, None) is not None:
            return 0.0
        waited = self._waited.get(submission_id)
        if kind == "suite_lost" and waited is not None and waited.job is not None and waited.sent < MOST_SENT:
            self._suites.doubt(waited.job.suite.id)
            waited.sent += 1
            waited.looked = time.monotonic()
            self._without_suite.append(waited)
            return 0.0
        return self._arrived(submission_id, answer)

    def _arrived(self, submission_id: str, answer: Answer) -> float:
        """Hand it to those who wait for it; how long they have, in seconds."""
        waited = self._waited.pop(submission_id, None)
        if waited is None or waited.answer.done():
            return 0.0
        self._estimate.learn(answer.head["timing"]["graded_seconds"], sum(answer.tests.values()))
        waited.answer.set_result(answer)
        return time.monotonic() - waited.since

    # --- calls for hands

    def _note_need(self, need: Need) -> None:
        self._need = need
        self._has_need.set()

    async def _call(self) -> None:
        """Call for as many hands as are wanted; what comes in meanwhile is one call's business.

        Looking whether a call is missing costs as much as submitting. If none is, those that are out bring hands.
        """
        while True:
            await self._has_need.wait()
            self._has_need.clear()
            if not await asyncio.to_thread(self._caller.call, *self._need):
                await asyncio.sleep(ENOUGH_SECONDS)

    # --- keeping watch

    async def _tick(self) -> None:
        looked = 0.0
        while True:
            await asyncio.sleep(TICK_SECONDS)
            await self._tell_released()
            await self._send_again()
            if time.monotonic() - looked >= STATE_SECONDS:
                looked = time.monotonic()
                await self._look_around()
                await self._reaper.look()
                await self._watch()
                await self._suites.keep(self._wanted_suites())

    async def _tell_released(self) -> None:
        # who has come to wait again meanwhile is not told off
        released = [each for each in self._released if each not in self._waited]
        self._released, self._releasing = [], frozenset(released)
        try:
            await self._ledger.release(self.name, released)
        except BaseException:
            self._released += released
            raise
        finally:
            self._releasing = frozenset()
            self._has_told.set()

    async def _until_told(self, submission_ids: Iterable[str]) -> None:
        """Let nobody join what is just being released: it would be released from under them."""
        while not self._releasing.isdisjoint(submission_ids):
            self._has_told.clear()
            await self._has_told.wait()

    def _wanted_suites(self) -> dict[str, Suite]:
        jobs = (waited.job for waited in self._waited.values() if waited.job is not None)
        return {job.suite.id: job.suite for job in jobs}

    async def _look_around(self) -> None:
        self._totals = await self._ledger.totals()
        age = time.monotonic() - self._saw_workers
        if self._totals.workers != len(self._workers) or age >= len(self._workers) / WORKERS_A_SECOND:
            self._saw_workers = time.monotonic()
            self._workers = await self._ledger.workers()
            self._graders = _kind_of(self._workers.values()) if self._caches else ""
        self._away = ""
        if self._totals.waiting:
            slots = sum(worker.slots for worker in self._workers.values())
            self._note_need(Need(self._totals.waiting, len(self._workers), slots))

    async def _watch(self) -> None:
        """Look up what has been waited for too long."""
        now = time.monotonic()
        self._told = {each: since for each, since in self._told.items() if now - since < REPLY_SECONDS}
        waiting = (each for each in self._waited.values() if each.is_known and now - each.looked > WATCH_SECONDS)
        overdue = list(itertools.islice(waiting, WATCHED_AT_ONCE))
        if not overdue:
            return
        forgotten = {}
        for waited, found in zip(overdue, await self._ledger.look([each.id for each in overdue]), strict=True):
            waited.looked = now
            if self._waited.get(waited.id) is not waited or found.state == "pending":
                continue
            if found.state == "answered" and not waited.is_due:
                waited.is_due, waited.looked = True, now - WATCH_SECONDS  # it may be on its way: look again next time
                continue
            self._counts["watchdog"] += 1
            if found.state == "answered" and waited.job and found.digest not in (b"", waited.job.digest):
                self._arrived(waited.id, _id_taken(waited.job))
            elif found.state == "answered":
                self._heard(waited.id, self._read(waited.id, found.answer, found.cached))
            elif waited.job is None:
                self._arrived(waited.id, fault(waited.id, 0, "forgotten", "Redis has lost it; send it again"))
            else:
                forgotten[waited.id] = waited
        if forgotten:
            await self._resubmit(forgotten)

    async def _send_again(self) -> None:
        """What a worker could not grade because Redis had lost the suite, which we still have."""
        lost, self._without_suite = self._without_suite, []
        wanted = {each.id: each for each in lost if self._waited.get(each.id) is each}
        if not wanted:
            return
        try:
            await self._resubmit(wanted)
        except BaseException:
            self._without_suite += lost
            raise

    async def _resubmit(self, lost: dict[str, _Waited]) -> None:
        """Submit what was taken before, with its suite: Redis has lost the one or the other."""
        await self._ledger.open_replies(self.name)  # what has lost these may have lost our stream
        jobs = [waited.job for waited in lost.values() if waited.job is not None]
        await self._suites.send(job.suite for job in jobs)
        try:
            await self._resubmit_all(jobs)
        except IdReused:
            for job in jobs:
                try:
                    await self._resubmit_all([job])
                except IdReused:
                    self._arrived(job.id, _id_taken(job))

    async def _resubmit_all(self, jobs: Sequence[Job]) -> None:
        entries = [self._entry(job) for job in jobs]
        taken, need = await self._ledger.submit(entries, self.name, NO_BOUNDS)
        self._note_need(need)
        for job, (state, answer) in zip(jobs, taken, strict=True):
            if answer is not None:
                self._arrived(job.id, self._read(job.id, answer, cached=state == "cached"))

    async def _supervised(self, chore: Callable[[], Awaitable[None]]) -> None:
        """A chore, begun again after every trouble with Redis. Anything else is a defect, and ends it."""
        while True:
            try:
                await chore()
            except (RedisError, OSError) as trouble:
                if not self._away:
                    log.warning("redis_away", extra={"reason": str(trouble)})
                self._away = str(trouble) or type(trouble).__name__
            await asyncio.sleep(RETRY_SECONDS)

    def _has_ended(self, chore: asyncio.Task[None]) -> None:
        """A chore has ended, of a defect if we are not closing: nobody is to wait for what will not come."""
        if chore.cancelled() or self._closing:
            return
        log.critical("defect", exc_info=chore.exception())
        self._defect = f"a defect of the service ({type(chore.exception()).__name__}); it is in the log"
        self._give_up(f"{self._defect}; send it again elsewhere")

    async def _patiently(self, action: Callable[[], Awaitable[T]]) -> T:
        return await patiently(action, lambda: self._closing)


NO_BOUNDS = Bounds(1 << 50, 1 << 50, 1e9)  # what was taken once is not refused for being taken again


def _kind_of(workers: Iterable[WorkerState]) -> str:
    """What all of these are; empty if they differ: then nobody may be given another's answer."""
    kinds = {f"{worker.info.get('version')}/{worker.info.get('languages')}" for worker in workers}
    return kinds.pop() if len(kinds) == 1 else ""


def _cancelled(submission_id: str, tests: int) -> bytes:
    return fault(submission_id, tests, "cancelled", "cancelled on request").body


def _id_taken(job: Job) -> Answer:
    """Somebody else was quicker when Redis had forgotten the id."""
    return fault(job.id, job.tests, "forgotten", "Redis has lost it, and its id was used again; use a new id")
