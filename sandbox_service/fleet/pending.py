"""The submissions that an API process waits for, or keeps for a later request.

Each stays here until it is answered, so that it can be submitted again if Redis loses it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator

from sandbox_service.errors import UnavailableError
from sandbox_service.grading.encoded_grade import EncodedGrade, fault
from sandbox_service.grading.suites import Suite
from sandbox_service.queues.base import Job
from sandbox_service.queues.estimate import Estimate
from sandbox_service.queues.observers import Observers, Watched
from sandbox_service.schema import FailureKind


class PendingSubmission:
    """One submission. `job` is None if another process submitted it."""

    __slots__ = (
        "answer", "id", "is_due", "is_known", "job", "keep", "looked_at", "name", "resends", "since", "waiters",
        "watched",
    )  # fmt: skip

    def __init__(self, name: str, submission_id: str, job: Job | None, keep: bool) -> None:
        self.name = name
        self.id = submission_id
        self.job = job
        self.keep = keep
        self.answer: asyncio.Future[EncodedGrade] = asyncio.get_running_loop().create_future()
        self.waiters = 0
        self.watched: Watched = []
        self.is_known = False  # to the ledger
        self.is_due = False  # it was answered already when the watchdog last looked
        self.resends = 0  # because a worker did not find its suite
        self.since = self.looked_at = time.monotonic()


class PendingSubmissions:
    """All of them by name, and the names that the ledger must still be told to release."""

    def __init__(self, estimate: Estimate, observers: Observers) -> None:
        self._estimate = estimate
        self._observers = observers
        self._by_name: dict[str, PendingSubmission] = {}
        self._cancelled: dict[str, float] = {}  # waiters were answered here already: when, monotonic
        self.released: list[str] = []

    def __iter__(self) -> Iterator[PendingSubmission]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def get(self, name: str) -> PendingSubmission | None:
        """Return the submission of a name; None if it is not pending here."""
        return self._by_name.get(name)

    def has(self, job: Job) -> bool:
        """Return whether the same submission is pending here."""
        pending = self._by_name.get(job.name)
        return pending is not None and pending.job is not None and pending.job.digest == job.digest

    def add(self, job: Job) -> PendingSubmission:
        """Return the entry of a job that is about to be submitted."""
        pending = self._by_name.get(job.name)
        if pending is None or (pending.job is not None and pending.job.digest != job.digest):
            # in the second case the ledger refuses this job, or else the other submission has ended
            pending = PendingSubmission(job.name, job.id, job, keep=False)
            self._by_name.setdefault(job.name, pending)
        return pending

    def add_unknown(self, name: str, submission_id: str) -> PendingSubmission:
        """Return the entry of the submission of this name and id, which another process may have submitted."""
        return self._by_name.setdefault(name, PendingSubmission(name, submission_id, None, keep=False))

    def confirm(self, job: Job, pending: PendingSubmission) -> None:
        """Note that the ledger has taken a job."""
        pending.is_known = True
        pending.job = pending.job or job
        pending.keep |= job.keep
        other = self._by_name.setdefault(job.name, pending) if not pending.answer.done() else pending
        if other is not pending:
            # the ledger has taken this body, so the other submission has ended; its reply has not arrived yet
            self.answer_cancelled(job.name)
            self._by_name[job.name] = pending

    def answer(self, name: str, answer: EncodedGrade) -> float:
        """Answer all waiters for the submission of a name. Return for how many seconds they waited; 0 if none did."""
        pending = self._by_name.pop(name, None)
        if pending is None or pending.answer.done():
            return 0.0
        self._estimate.learn(answer.head["timing"]["graded_seconds"], sum(answer.tests.values()))
        pending.answer.set_result(answer)
        self._observers.answered(pending.watched, answer)
        return time.monotonic() - pending.since

    def answer_cancelled(self, name: str) -> None:
        """Answer all waiters that it was cancelled, before the reply arrives; see `was_cancelled`."""
        pending = self._by_name.get(name)
        if pending is not None:
            tests = pending.job.tests if pending.job else 0
            self.answer(name, EncodedGrade(cancelled(pending.id, tests)))
            self._cancelled[name] = time.monotonic()

    def was_cancelled(self, name: str) -> bool:
        """Return whether `answer_cancelled` answered this name; True once, for the reply that follows."""
        return self._cancelled.pop(name, None) is not None

    def forget_cancelled(self, seconds: float) -> None:
        """Expect no more replies about submissions that were cancelled so many seconds ago."""
        now = time.monotonic()
        self._cancelled = {each: since for each, since in self._cancelled.items() if now - since < seconds}

    def release(self, pending: PendingSubmission) -> None:
        """Drop a submission that no caller waits for; the ledger is told later."""
        if pending.waiters or pending.keep or pending.answer.done():
            return
        if self._by_name.get(pending.name) is pending:
            del self._by_name[pending.name]
            self.released.append(pending.name)
        pending.answer.cancel()

    def give_up(self, reason: str) -> None:
        """Answer all waiters with UnavailableError for this reason. The submissions are graded all the same."""
        for pending in list(self):
            if not pending.answer.done():
                pending.answer.set_exception(UnavailableError(reason))
                pending.answer.exception()  # marks it as retrieved: the waiters may be gone
        self._by_name.clear()

    def overdue(self, seconds: float, most: float) -> Iterator[PendingSubmission]:
        """Return those that were not looked up for half of their age.

        Args:
            seconds: since the last look, at least.
            most: seconds since the last look that are enough at any age.
        """
        now = time.monotonic()
        return (
            each
            for each in self
            if each.is_known and now - each.looked_at > min(max(seconds, (now - each.since) / 2), most)
        )

    def suites(self) -> dict[str, Suite]:
        """Return the suites that they need, by id."""
        return suites_of(pending.job for pending in self)


def suites_of(jobs: Iterable[Job | None]) -> dict[str, Suite]:
    """Return the suites of jobs, by id."""
    return {job.suite.id: job.suite for job in jobs if job is not None}


def cancelled(submission_id: str, tests: int) -> bytes:
    """Return the answer to a submission with so many tests that was cancelled on request."""
    return fault(submission_id, tests, FailureKind.CANCELLED, "cancelled on request").body
