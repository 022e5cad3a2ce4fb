"""The queue of one machine: this process, its slot processes, and nothing else.

A submission crosses to a slot as JSON, as it would cross Redis. It is in exactly one of three places: waiting,
in a slot's hands, or answered; a slot that dies gives back what it held.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox_service.errors import BadRequest, IdReused, QueueFull, Unavailable
from sandbox_service.schema import Grade, Submission, Verdict
from sandbox_service.slots import SlotFactory, SlotProcess

MOST_ATTEMPTS = 3
HOLD_SECONDS = 10.0  # what was taken waits so long for a slot that works
REMEMBERED_BYTES = 64 << 20
REMEMBERED_SECONDS = 600.0
RETRIED = frozenset({"sandbox", "jail_unsafe", "grader_error"})


@dataclass
class _Job:
    key: int
    submission_id: str
    digest: bytes
    payload: bytes
    taken: float
    answer: asyncio.Future[Grade]
    total: int
    waiters: int = 1
    attempts: int = 0
    slot: SlotProcess | None = field(default=None, repr=False)


class LocalQueue:
    """Bounded, in memory, fed to slots in order of arrival."""

    def __init__(self, make_slot: SlotFactory, slots: int, most_submissions: int, most_bytes: int) -> None:
        self._most_submissions = most_submissions
        self._most_bytes = most_bytes
        self._keys = itertools.count(1)
        self._jobs: dict[str, _Job] = {}
        self._by_key: dict[int, _Job] = {}
        self._waiting: deque[_Job] = deque()
        self._bytes = 0
        self._answered: OrderedDict[str, tuple[float, bytes, Grade]] = OrderedDict()
        self._answered_bytes = 0
        self._owed: dict[str, int] = {}  # releases still to come from those who were answered
        self._closing = False
        self._slots = [make_slot(index, self) for index in range(slots)]

    # --- what the API calls

    def submit(self, submission: Submission) -> None:
        """Take a submission; see JobQueue."""
        payload = submission.model_dump_json().encode()
        digest = hashlib.blake2b(payload, digest_size=16).digest()
        if self._is_known(submission.id, digest):
            return
        if self._closing:
            raise Unavailable("the service is closing")
        if self._unusable_seconds() is not None:
            raise Unavailable("nothing can be graded: " + "; ".join(self.unready()))
        self._check_room(1, len(payload))
        job = _Job(
            key=next(self._keys),
            submission_id=submission.id,
            digest=digest,
            payload=payload,
            taken=time.monotonic(),
            answer=asyncio.get_running_loop().create_future(),
            total=len(submission.tests),
        )
        self._jobs[submission.id] = self._by_key[job.key] = job
        self._bytes += len(payload)
        self._waiting.append(job)
        self.slot_free()

    def _is_known(self, submission_id: str, digest: bytes) -> bool:
        """Whether this very submission was taken before; one more then waits for it."""
        job = self._jobs.get(submission_id)
        answered = self._answered.get(submission_id)
        known = job.digest if job else answered[1] if answered else None
        if known is not None and known != digest:
            raise IdReused(f"id {submission_id!r} was used with another body; use a new id")
        if job is not None:
            job.waiters += 1
        elif answered is not None:
            self._owe(submission_id, 1)
        return known is not None

    async def wait(self, submission_id: str) -> Grade:
        """The grade; see JobQueue."""
        if submission_id in self._answered:
            return self._answered[submission_id][2]
        return await asyncio.shield(self._jobs[submission_id].answer)

    def release(self, submission_id: str) -> None:
        """One waiter less; see JobQueue. One who was answered may come when the id is in use again by others."""
        owed = self._owed.pop(submission_id, 0)
        if owed:
            self._owe(submission_id, owed - 1)
            return
        job = self._jobs.get(submission_id)
        if job is None:
            return
        job.waiters -= 1
        if job.waiters > 0:
            return
        if job.slot is not None:
            job.slot.cancel(job.key)
        else:
            self._forget(job)
            job.answer.cancel()

    def room_for(self, submissions: int) -> None:
        """See JobQueue."""
        if submissions > self._most_submissions:
            raise BadRequest(f"{submissions} submissions at once, the queue takes {self._most_submissions}")
        self._check_room(submissions, 0)

    def _check_room(self, submissions: int, size: int) -> None:
        if len(self._jobs) + submissions > self._most_submissions:
            raise QueueFull(f"{len(self._jobs)} submissions are waiting, the most is {self._most_submissions}", 2.0)
        if self._bytes + size > self._most_bytes and self._jobs:
            raise QueueFull(f"{self._bytes} bytes of submissions are waiting, the most is {self._most_bytes}", 2.0)

    def depth(self) -> int:
        """See JobQueue."""
        return len(self._jobs)

    @property
    def slots(self) -> Sequence[SlotProcess]:
        """The slots, for metrics and tests."""
        return self._slots

    def unready(self) -> list[str]:
        """See JobQueue."""
        if self._closing:
            return ["closing"]
        if any(slot.ready for slot in self._slots):
            return []
        return [f"slot {slot.index}: {slot.reason}" for slot in self._slots]

    def _unusable_seconds(self) -> float | None:
        """For how long every slot has failed; None if one works, or has not yet been tried."""
        latest = 0.0
        for slot in self._slots:
            if slot.failed_since is None:
                return None
            latest = max(latest, slot.failed_since)
        return time.monotonic() - latest

    def languages(self) -> list[str]:
        """See JobQueue."""
        return sorted({slot.language for slot in self._slots if slot.language})

    async def drain(self, seconds: float) -> None:
        """Take nothing more; finish what was taken, for so long. The rest is answered with Unavailable."""
        self._closing = True
        pending = [job.answer for job in self._jobs.values()]
        if pending:
            await asyncio.wait(pending, timeout=seconds)
        self._give_up(list(self._jobs.values()), "the service is closing; send it again elsewhere")

    def _give_up(self, jobs: Sequence[_Job], reason: str) -> None:
        for job in jobs:
            self._forget(job)
            if not job.answer.done():
                job.answer.set_exception(Unavailable(reason))
                job.answer.exception()  # a batch may have gone: an answer that nobody reads is no error

    async def close(self) -> None:
        """Stop at once; see JobQueue."""
        await self.drain(0.0)
        await asyncio.gather(*(slot.close() for slot in self._slots))

    # --- what the slots call

    def slot_free(self) -> None:
        """Give waiting submissions to free slots, in order."""
        for slot in self._slots:
            while self._waiting and self._waiting[0].answer.done():
                self._waiting.popleft()
            if not self._waiting:
                return
            if slot.free:
                job = self._waiting.popleft()
                job.slot = slot
                job.attempts += 1
                slot.give(job.key, job.taken, job.payload)

    def slot_done(self, key: int, grade: Grade | None) -> None:
        """An answer, a fault to be tried elsewhere, or a cancellation carried out."""
        job = self._by_key.get(key)
        if job is None:
            return
        job.slot = None
        if grade is None:
            self._cancelled(job)
        elif grade.verdict == Verdict.IE and grade.failure_kind in RETRIED and job.attempts < MOST_ATTEMPTS:
            self._again(job)
        else:
            identity = grade.grader.model_copy(update={"attempts": job.attempts})
            self._answer(job, grade.model_copy(update={"grader": identity}))

    def slot_lost(self, key: int) -> None:
        """The slot died: try elsewhere, unless this submission has taken too many with it."""
        job = self._by_key.get(key)
        if job is None:
            return
        job.slot = None
        if job.attempts < MOST_ATTEMPTS:
            self._again(job)
            return
        self._answer(
            job,
            Grade(
                id=job.submission_id,
                verdict=Verdict.IE,
                reward=None,
                mask_sample=True,
                failure_kind="worker_lost",
                failure_reason=f"{job.attempts} grading processes ended while they had this submission",
                total=job.total,
            ),
        )

    def slot_failed(self) -> None:
        """A slot cannot grade. If for a while none could, those who wait are told rather than kept."""
        seconds = self._unusable_seconds()
        if seconds is not None and seconds >= HOLD_SECONDS:
            waiting = list(self._waiting)
            self._waiting.clear()
            self._give_up(waiting, "nothing can be graded: " + "; ".join(self.unready()))

    def _again(self, job: _Job) -> None:
        """Back to the head of the queue, if anybody still waits for it."""
        if job.waiters > 0:
            self._waiting.appendleft(job)
            self.slot_free()
        else:
            self._forget(job)
            job.answer.cancel()

    def _cancelled(self, job: _Job) -> None:
        """Carried out; unless somebody has come to wait for it after all."""
        job.attempts -= 1
        self._again(job)

    def _answer(self, job: _Job, grade: Grade) -> None:
        self._forget(job)
        if not job.answer.done():
            job.answer.set_result(grade)
        self._remember(job, grade)

    def _forget(self, job: _Job) -> None:
        if self._jobs.pop(job.submission_id, None) is not None:
            del self._by_key[job.key]
            self._bytes -= len(job.payload)
            self._owe(job.submission_id, job.waiters)

    def _owe(self, submission_id: str, releases: int) -> None:
        if releases > 0:
            self._owed[submission_id] = self._owed.get(submission_id, 0) + releases

    def _remember(self, job: _Job, grade: Grade) -> None:
        """Keep verdicts for a while, so that a client that lost its connection can ask again with the same id."""
        if grade.verdict == Verdict.IE:
            return
        now = time.monotonic()
        self._answered[job.submission_id] = (now, job.digest, grade)
        self._answered_bytes += _size(grade)
        while self._answered:
            oldest, (moment, _, old) = next(iter(self._answered.items()))
            if self._answered_bytes <= REMEMBERED_BYTES and now - moment < REMEMBERED_SECONDS:
                return
            del self._answered[oldest]
            self._answered_bytes -= _size(old)


def _size(grade: Grade) -> int:
    """About how many bytes a remembered grade takes."""
    return 1024 + sum(1024 + len(test.stdout) + len(test.stderr) for test in grade.tests)
