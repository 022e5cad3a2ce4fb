"""Verdict flips: a few submissions are graded once more, to see whether the same program gets the same verdict.

Only those with a verdict that should last (AC, WA, RTE, CE) and that was computed, not remembered. The second answer
is compared and thrown away; another verdict is counted and logged, a fault of ours says nothing. Nobody's answer
waits for this, and where anything waits to be graded it is not done at all: so a service that is always full sees no
flips, and one that grades in bursts looks at their ends.
"""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace

from prometheus_client import CollectorRegistry, Counter

from sandbox_service.answers import Answer
from sandbox_service.errors import ProctorError
from sandbox_service.queues.base import PRIORITIES, Job, JobQueue, Ticket
from sandbox_service.queues.wrapper import Wrapper

log = logging.getLogger(__name__)

Given = Callable[["asyncio.Future[Answer]"], None]


class RecheckedQueue(Wrapper):
    """A queue that grades a share of what passes through it once more. Must be told of its end by drain or close."""

    def __init__(
        self, queue: JobQueue, share: float, registry: CollectorRegistry, chance: random.Random | None = None
    ) -> None:
        super().__init__(queue)
        self._share = share
        self._chance = chance or random.Random()  # noqa: S311 no secret
        self._rechecks = Counter("proctor_rechecks", "Submissions graded twice", registry=registry)
        self._flips = Counter("proctor_verdict_flips", "… with two different verdicts", registry=registry)
        self._sending: set[asyncio.Task[None]] = set()
        self._open: dict[str, Ticket] = {}
        self._closing = False

    async def submit(self, jobs: Sequence[Job]) -> list[Ticket]:
        """See JobQueue; some are chosen to be graded again when they are answered."""
        tickets = await super().submit(jobs)
        if self._share > 0:
            for job, ticket in zip(jobs, tickets, strict=True):
                if self._chance.random() < self._share:
                    ticket.answer.add_done_callback(self._chosen(job))
        return tickets

    async def drain(self, seconds: float) -> None:
        """See JobQueue; what is graded for the second time is given up."""
        self._stop()
        await super().drain(seconds)

    async def close(self) -> None:
        """See JobQueue."""
        self._stop()
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)
        await super().close()

    def _stop(self) -> None:
        self._closing = True
        for ticket in list(self._open.values()):
            ticket.release()
        self._open.clear()

    def _chosen(self, job: Job) -> Given:
        def answered(first: asyncio.Future[Answer]) -> None:
            if self._closing or not _is_said(first) or not _may_be_repeated(first.result()):
                return
            task = asyncio.get_running_loop().create_task(self._again(job, first.result().head["verdict"]))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

        return answered

    async def _again(self, job: Job, verdict: str) -> None:
        """Have it graded again, if nothing else is to be graded. That the queue refuses is nobody's trouble."""
        if self._closing or self._queue.depth().waiting:
            return
        name = f"recheck:{uuid.uuid4().hex}"
        # its client's turn, not one of its own: each client more would make the others' shares of the queue smaller
        second = replace(job, id=name, priority=PRIORITIES.index("low"), labels={}, keep=False, fresh=True)
        try:
            [ticket] = await self._queue.submit([second])
        except ProctorError:
            return
        if self._closing:
            ticket.release()
            return
        self._open[name] = ticket
        ticket.answer.add_done_callback(self._comparer(job, name, verdict))

    def _comparer(self, job: Job, name: str, verdict: str) -> Given:
        def answered(second: asyncio.Future[Answer]) -> None:
            ticket = self._open.pop(name, None)
            if ticket is not None:
                ticket.release()
            if _is_said(second) and not second.result().is_fault:
                self._compare(job, verdict, second.result().head["verdict"])

        return answered

    def _compare(self, job: Job, first: str, second: str) -> None:
        self._rechecks.inc()
        if first != second:
            self._flips.inc()
            said = {"before": first, "after": second, "suite": job.suite.id, "digest": job.digest.hex()}
            log.warning("verdict_flip", extra=said)


def _is_said(answer: asyncio.Future[Answer]) -> bool:
    """Whether there is an answer, and not its end or an error."""
    return not answer.cancelled() and answer.exception() is None


def _may_be_repeated(answer: Answer) -> bool:
    return answer.is_lasting and not answer.head["grader"]["cached"]
