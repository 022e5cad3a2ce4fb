"""Grades a share of the submissions a second time and counts the verdicts that differ.

Only verdicts that should be stable (AC, WA, RTE, CE) and that were computed, not cached, are rechecked. The second
answer is compared and discarded: a different verdict is counted and logged, a fault is ignored. Accepted submissions
with several calls can be rechecked with their calls in another order, which finds functions that depend on earlier
calls.

A recheck has the priority `high`: with a lower one it would never be graded under constant load. At most `MOST_OPEN`
rechecks are in the queue at a time, so other submissions wait for those few at most.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from prometheus_client import CollectorRegistry, Counter

from sandbox_service.errors import ProctorError, QueueFullError
from sandbox_service.event_loop import cancel_tasks
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.queues.base import PRIORITIES, Job, ObservedQueue, Waiter
from sandbox_service.queues.observers import GradedEvent
from sandbox_service.schema import CallTest, Verdict

log = logging.getLogger(__name__)

MOST_WAITING = 256  # jobs to be submitted again, with their programs and tests
MOST_OPEN = 4  # submitted again and not yet answered
LONGEST_PAUSE_SECONDS = 1.0


class Rechecks:
    """An `EventCollector` that submits a share of the graded jobs again."""

    def __init__(
        self,
        queue: ObservedQueue,
        share: float,
        registry: CollectorRegistry,
        rng: random.Random | None = None,
        *,
        reorder_share: float = 0.0,
        flipped: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Subscribe to a queue.

        Args:
            queue: observed, and used to submit the rechecks.
            share: of all submissions, from 0 to 1, that are graded again as they are.
            registry: gets the counters `proctor_rechecks` and `proctor_verdict_flips`.
            rng: chooses the submissions; for tests.
            reorder_share: of the accepted submissions with several calls that are graded again in another order.
            flipped: called with the suite of each verdict that differs.
        """
        self._flipped = flipped
        self._queue = queue
        self._share = share
        self._reorder_share = reorder_share
        self._rng = rng or random.Random()  # noqa: S311 no secret
        self._rechecks = Counter("proctor_rechecks", "Submissions graded twice", registry=registry)
        self._flips = Counter(
            "proctor_verdict_flips", "Submissions graded twice that got two verdicts", registry=registry
        )
        self._waiting: deque[tuple[Job, str]] = deque()
        self._has_room = asyncio.Event()
        self._sending: asyncio.Task[None] | None = None
        self._drawn: list[tuple[GradedEvent, bool]] = []  # with whether the calls are to be shuffled
        self._open: dict[str, Waiter] = {}
        self._closing = False
        if share > 0 or reorder_share > 0:
            queue.collect(self)

    def add(self, event: GradedEvent) -> bool:
        """See EventCollector; draw some that may be graded again."""
        before = len(self._drawn)
        if self._share > 0 and self._rng.random() < self._share:
            self._drawn.append((event, False))
        if self._reorder_share > 0 and self._rng.random() < self._reorder_share:
            self._drawn.append((event, True))
        return before == 0 < len(self._drawn)

    def flush(self) -> None:
        """See EventCollector."""
        drawn, self._drawn = self._drawn, []
        for event, shuffled in drawn:
            if not shuffled or _has_calls(event.job):
                self._choose(event, shuffled=shuffled)

    def closing(self) -> None:
        """See EventCollector; release every recheck."""
        self._closing = True
        for waiter in list(self._open.values()):
            waiter.release()
        self._open.clear()
        self._waiting.clear()
        self._has_room.set()

    async def close(self) -> None:
        """Stop submitting."""
        self.closing()
        if self._sending is not None:
            await cancel_tasks([self._sending])

    def _choose(self, event: GradedEvent, *, shuffled: bool) -> None:
        if self._closing or not _may_be_repeated(event.answer):
            return
        verdict = event.answer.head["verdict"]
        if shuffled and verdict != Verdict.AC:
            return
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append((_shuffled(event.job) if shuffled else event.job, verdict))
            self._begin()

    def _begin(self) -> None:
        if self._sending is None or self._sending.done():
            self._sending = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        """Submit the waiting jobs one after the other. Retry when the queue is full; drop a job on any other error."""
        while self._waiting and not self._closing:
            while len(self._open) >= MOST_OPEN and not self._closing:
                self._has_room.clear()
                await self._has_room.wait()
            if not self._waiting:
                return
            job, verdict = self._waiting.popleft()
            try:
                await self._submit(job, verdict)
            except QueueFullError as error:
                if not self._closing:
                    self._waiting.appendleft((job, verdict))
                await asyncio.sleep(min(error.retry_after_seconds, LONGEST_PAUSE_SECONDS))
            except ProctorError:
                continue

    async def _submit(self, job: Job, verdict: str) -> None:
        """Submit a job again. Raises as JobQueue.submit does."""
        name = f"recheck:{uuid.uuid4().hex}"
        # under its own client: another client would make the others' shares of the queue smaller
        second = replace(job, id=name, priority=PRIORITIES.index("high"), labels={}, keep=False, fresh=True)
        [waiter] = await self._queue.submit([second])
        if self._closing:
            waiter.release()
            return
        self._open[name] = waiter
        waiter.answer.add_done_callback(self._comparer(job, name, verdict))

    def _comparer(self, job: Job, name: str, verdict: str) -> Callable[[asyncio.Future[EncodedGrade]], None]:
        def answered(second: asyncio.Future[EncodedGrade]) -> None:
            waiter = self._open.pop(name, None)
            self._has_room.set()
            if waiter is not None:
                waiter.release()
            if _has_answer(second) and not second.result().is_fault:
                self._compare(job, verdict, second.result().head["verdict"])

        return answered

    def _compare(self, job: Job, first: str, second: str) -> None:
        self._rechecks.inc()
        if first != second:
            self._flips.inc()
            self._flipped(job.suite.id)
            fields = {"before": first, "after": second, "suite": job.suite.id, "digest": job.digest.hex()}
            log.warning("verdict_flip", extra=fields)


def _has_calls(job: Job) -> bool:
    return job.tests > 1 and any(isinstance(test, CallTest) for test in job.suite.tests)


def _shuffled(job: Job) -> Job:
    """The same work with its calls in random order."""
    return job.like(job.id, json.dumps(json.loads(job.body) | {"isolation": "shuffled"}).encode())


def _has_answer(answer: asyncio.Future[EncodedGrade]) -> bool:
    return not answer.cancelled() and answer.exception() is None


def _may_be_repeated(answer: EncodedGrade) -> bool:
    return answer.is_lasting and not answer.head["grader"]["cached"]
