"""Looks up submissions that wait for long, and submits those again that Redis has lost.

A reply can be lost with its stream, and a submission with all of Redis' memory. The API process that waits for it finds
out here: after two seconds, and then when half of the submission's age has passed, but every ten seconds; every two
seconds after Redis has lost data.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence

from sandbox_service.errors import IdReusedError
from sandbox_service.fleet.ledger.entries import Found
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.pending import PendingSubmission, PendingSubmissions, suites_of
from sandbox_service.fleet.suite_store import SuiteStore
from sandbox_service.grading.encoded_grade import EncodedGrade, fault
from sandbox_service.grading.retries import RESEND_SECONDS
from sandbox_service.queues.base import Job
from sandbox_service.schema import FailureKind

WATCH_SECONDS = 2.0
MOST_WATCH_SECONDS = 10.0  # of a submission that has waited for long: a look costs Redis a fiftieth of a submission
WATCHED_AT_ONCE = 2048
OTHERS_SECONDS = 1.0  # between two attempts to have a submission graded by a worker that can read it

Resubmit = Callable[[Sequence[Job]], Awaitable[None]]
Accept = Callable[[str, Found], None]


class Watchdog:
    """Watches the pending submissions of one API process.

    `resubmit` puts jobs into the ledger without bounds, `accept` handles an answer that was looked up.
    """

    def __init__(
        self,
        ledger: Ledger,
        api: str,
        pending: PendingSubmissions,
        suites: SuiteStore,
        resubmit: Resubmit,
        accept: Accept,
    ) -> None:
        self._ledger = ledger
        self._api = api
        self._pending = pending
        self._suites = suites
        self._resubmit_all = resubmit
        self._accept = accept
        self._to_resend: list[tuple[float, PendingSubmission]] = []  # not before this time, monotonic
        self.counts: Counter[str] = Counter()

    async def look(self, *, has_lost: bool) -> None:
        """Look up submissions whose last look is too long ago.

        Args:
            has_lost: Redis may have lost data lately; then all are looked up after `WATCH_SECONDS`.

        Raises:
            RedisError: Redis cannot be reached or refuses.
        """
        late = self._pending.overdue(WATCH_SECONDS, WATCH_SECONDS if has_lost else MOST_WATCH_SECONDS)
        overdue = list(itertools.islice(late, WATCHED_AT_ONCE))
        if not overdue:
            return
        forgotten = {}
        for pending, found in zip(overdue, await self._ledger.look([each.name for each in overdue]), strict=True):
            if self._is_late(pending, found):
                self.counts["watchdog"] += 1
                if self._is_forgotten(pending, found):
                    forgotten[pending.name] = pending
        if forgotten:
            await self._resubmit(forgotten)

    def _is_late(self, pending: PendingSubmission, found: Found) -> bool:
        """Return whether something is wrong. An answer may be on its way: it is late when two looks have found it."""
        now = time.monotonic()
        pending.looked_at = now
        if self._pending.get(pending.name) is not pending or found.state == "pending":
            return False
        if found.state == "answered" and not pending.is_due:
            pending.is_due, pending.looked_at = True, now - MOST_WATCH_SECONDS
            return False
        return True

    def _is_forgotten(self, pending: PendingSubmission, found: Found) -> bool:
        """Answer a submission if possible. Return whether it must be submitted again."""
        if found.state == "answered" and pending.job and found.digest not in (b"", pending.job.digest):
            self._pending.answer(pending.name, _id_taken(pending.job))
        elif found.state == "answered":
            self._accept(pending.name, found)
        elif pending.job is None:
            reason = "Redis has lost it; send it again"
            self._pending.answer(pending.name, fault(pending.id, 0, FailureKind.FORGOTTEN, reason))
        else:
            return True
        return False

    def resend_suite(self, pending: PendingSubmission, job: Job) -> None:
        """Submit a job again, with its suite, after the next of `RESEND_SECONDS`: a worker did not find the suite."""
        self._suites.doubt(job.suite.id)
        pause = RESEND_SECONDS[pending.resends]
        pending.resends += 1
        self._resend_after(pause, pending)

    def resend_to_others(self, pending: PendingSubmission) -> None:
        """Submit a job again after `OTHERS_SECONDS`: a worker of another version could not read it."""
        self._resend_after(OTHERS_SECONDS, pending)

    def _resend_after(self, seconds: float, pending: PendingSubmission) -> None:
        pending.looked_at = time.monotonic() + seconds
        self._to_resend.append((pending.looked_at, pending))

    async def resend(self) -> None:
        """Submit those again that workers could not read or had no suite for. Raises redis.RedisError."""
        now, before = time.monotonic(), self._to_resend
        self._to_resend = [each for each in before if each[0] > now]
        wanted = {each.name: each for when, each in before if when <= now and self._pending.get(each.name) is each}
        if not wanted:
            return
        try:
            await self._resubmit(wanted)
        except BaseException:
            self._to_resend = before
            raise

    async def _resubmit(self, lost: Mapping[str, PendingSubmission]) -> None:
        """Submit a submission that was accepted before, with its suite."""
        await self._ledger.open_replies(self._api)  # the stream may be lost as well
        jobs = [pending.job for pending in lost.values() if pending.job is not None]
        await self._suites.send(suites_of(jobs).values())
        try:
            await self._resubmit_all(jobs)
        except IdReusedError:
            for job in jobs:
                try:
                    await self._resubmit_all([job])
                except IdReusedError:
                    self._pending.answer(job.name, _id_taken(job))


def _id_taken(job: Job) -> EncodedGrade:
    """The id was used for another submission after Redis had lost it."""
    reason = "Redis has lost it, and its id was used again; use a new id"
    return fault(job.id, job.tests, FailureKind.FORGOTTEN, reason)
