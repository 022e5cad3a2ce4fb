"""The answers for an API process: reads them from its stream, and decides which are final.

An answer that is not final leads to the submission being sent again, by the watchdog (watchdog.py).
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from sandbox_service.fleet.ledger.entries import Found
from sandbox_service.fleet.ledger.intervals import gathering_seconds
from sandbox_service.fleet.ledger.ledger import Ledger
from sandbox_service.fleet.pending import PendingSubmissions
from sandbox_service.fleet.status import FleetStatus
from sandbox_service.fleet.watchdog import Watchdog
from sandbox_service.grading.encoded_grade import EncodedGrade, again, fault
from sandbox_service.grading.retries import MOST_RESENDS, QUEUE
from sandbox_service.schema import FailureKind

REPLY_SECONDS = 5.0
MOST_GATHERING_SECONDS = 0.1
LAST_SECONDS = 0.002  # longest pause for each pending submission, so that the last few answers are not delayed


class Replies:
    """Receives answers.

    Attributes:
        counts: event counts of this process, by name.
    """

    def __init__(
        self, ledger: Ledger, api: str, pending: PendingSubmissions, status: FleetStatus, watchdog: Watchdog
    ) -> None:
        """Receive nothing yet.

        Args:
            ledger: the state of the fleet.
            api: the name of this process, and of its stream.
            pending: gets the answers.
            status: knows which versions the workers have.
            watchdog: sends again what has no final answer.
        """
        self._ledger = ledger
        self._api = api
        self._pending = pending
        self._status = status
        self._watchdog = watchdog
        self.counts: Counter[str] = Counter()

    async def receive(self) -> None:
        """Read answers from the stream until this is cancelled. Raises RedisError."""
        last, kept_at = "0", 0.0
        while True:
            if time.monotonic() - kept_at > REPLY_SECONDS:
                last = last if await self._ledger.keep_replies(self._api) else "0"
                kept_at = time.monotonic()
            replies = await self._ledger.replies(self._api, last, REPLY_SECONDS)
            ages = [self._accept(reply.id, self.read(self._id_of(reply.id), reply.answer)) for reply in replies]
            if replies:
                last = replies[-1].stream_id
                pause = gathering_seconds(len(replies), min(ages), MOST_GATHERING_SECONDS)
                await asyncio.sleep(min(pause, LAST_SECONDS * len(self._pending)))

    def read(self, submission_id: str, body: bytes | None, cached: bool = False) -> EncodedGrade:
        """Return an answer from Redis, under the id of its submission; a fault if it is not a grade.

        Args:
            submission_id: of its submission.
            body: as the ledger returns it.
            cached: it was made for another id.
        """
        answer = EncodedGrade(body or b"")
        if not answer.is_whole:
            self.counts["refused"] += 1
            return fault(submission_id, 0, FailureKind.UNREADABLE_ANSWER, "what Redis holds for an answer is none")
        if cached:
            return again(answer, submission_id)
        head = answer.head
        return answer if head.get("id") == submission_id else answer.under(head | {"id": submission_id})

    def _id_of(self, name: str) -> str:
        """Return the id that the answer to a submission has; its name if it is not pending here."""
        pending = self._pending.get(name)
        return name if pending is None else pending.id

    def accept_found(self, name: str, found: Found) -> None:
        """Handle an answer that was looked up.

        Args:
            name: of its submission.
            found: what the ledger has of it.
        """
        self._accept(name, self.read(self._id_of(name), found.answer, found.cached))

    def _accept(self, name: str, answer: EncodedGrade) -> float:
        """Handle an answer that the fleet gave. Return how long its waiters have waited, in seconds; 0 if none do."""
        kind = answer.head["failure_kind"]
        if kind == FailureKind.CANCELLED and self._pending.was_cancelled(name):
            return 0.0
        pending = self._pending.get(name)
        job = pending.job if pending is not None else None
        if pending is not None and job is not None and kind in QUEUE and pending.resends < MOST_RESENDS:
            self._watchdog.resend_suite(pending, job)
            return 0.0
        if pending is not None and self.is_of_older_worker(answer):
            if job is not None:
                self._watchdog.resend_to_others(pending)
            return 0.0
        return self._pending.answer(name, answer)

    def is_of_older_worker(self, answer: EncodedGrade) -> bool:
        """Return whether a worker of an older version could not read the submission.

        It is no answer then: the API process that took the submission, and has validated it, sends it again.
        """
        return answer.head["failure_kind"] == FailureKind.BAD_SUBMISSION and self._status.has_other_versions
