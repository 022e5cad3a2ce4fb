"""A queue around another, for those who want to see or change some of what passes and leave the rest as it is."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_service.queues.base import Depth, Job, JobQueue, Ticket, WorkerStatus
from sandbox_service.suites import Suite


class Wrapper:
    """Does nothing of its own. Every method is written out, so that the types can be checked."""

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue

    async def submit(self, jobs: Sequence[Job]) -> list[Ticket]:
        """See JobQueue."""
        return await self._queue.submit(jobs)

    async def find(self, submission_id: str) -> Ticket | None:
        """See JobQueue."""
        return await self._queue.find(submission_id)

    async def cancel(self, submission_ids: Sequence[str]) -> int:
        """See JobQueue."""
        return await self._queue.cancel(submission_ids)

    async def labelled(self, name: str, value: str) -> list[str]:
        """See JobQueue."""
        return await self._queue.labelled(name, value)

    async def put_suite(self, suite: Suite) -> bool:
        """See JobQueue."""
        return await self._queue.put_suite(suite)

    async def suite(self, suite_id: str) -> Suite | None:
        """See JobQueue."""
        return await self._queue.suite(suite_id)

    async def missing_suites(self, suite_ids: Sequence[str]) -> list[str]:
        """See JobQueue."""
        return await self._queue.missing_suites(suite_ids)

    def depth(self) -> Depth:
        """See JobQueue."""
        return self._queue.depth()

    def workers(self) -> list[WorkerStatus]:
        """See JobQueue."""
        return self._queue.workers()

    def counts(self) -> dict[str, int]:
        """See JobQueue."""
        return self._queue.counts()

    def unready(self) -> list[str]:
        """See JobQueue."""
        return self._queue.unready()

    def languages(self) -> list[str]:
        """See JobQueue."""
        return self._queue.languages()

    async def drain(self, seconds: float) -> None:
        """See JobQueue."""
        await self._queue.drain(seconds)

    async def close(self) -> None:
        """See JobQueue."""
        await self._queue.close()
