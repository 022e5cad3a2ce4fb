"""Grades without a service, with the queue and the slots that a service has."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from sandbox_service import bootstrap
from sandbox_service.api.intake import Intake
from sandbox_service.errors import BadRequestError, UnavailableError
from sandbox_service.queues.base import Job, JobQueue
from sandbox_service.queues.local import LocalQueue
from sandbox_service.schema import Grade
from sandbox_service.settings import PREFIX, Settings

POLL_SECONDS = 0.02
WAITING = 4  # queued submissions per slot, so that no slot is idle


def grade_all(settings: Settings, body: bytes, take: Callable[[Grade], None]) -> None:
    """Grade a batch on this machine.

    Args:
        settings: The settings.
        body: The body of a batch request.
        take: Called with each grade as it is made.

    Raises:
        BadRequestError: The batch is invalid.
        UnavailableError: No jail can be started.
    """
    os.environ.setdefault(f"{PREFIX}LOG_LEVEL", "warning")  # slots log their start and end only in a service
    asyncio.run(_grade_all(settings, body, take))


async def _grade_all(settings: Settings, body: bytes, take: Callable[[Grade], None]) -> None:
    try:
        jobs = await admitted(settings, body)
    except BadRequestError as error:  # all submissions share one problem, so the message names none of them
        raise BadRequestError(str(error).removeprefix("submissions[0]: ")) from None
    async with local_grader(settings) as grader:
        tasks = [asyncio.create_task(grader.grade(job)) for job in jobs]
        try:
            for answer in asyncio.as_completed(tasks):
                take(await answer)
        finally:  # interrupted, or stdout was closed
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def admitted(settings: Settings, body: bytes) -> list[Job]:
    """Return the jobs of a batch that are within this machine's limits.

    Args:
        settings: The settings.
        body: The body of a batch request.

    Raises:
        BadRequestError: A submission is refused.
        ValidationError: The batch does not have the form of one.
    """
    return await Intake(settings, _no_suite).many(body)


async def _no_suite(_: str) -> None:
    """Find no suite: each submission has its own tests."""


@asynccontextmanager
async def local_grader(settings: Settings) -> AsyncIterator[LocalGrader]:
    """Yield the slots of this machine once one of them has a proved jail.

    Raises:
        UnavailableError: No jail can be started.
    """
    async with bootstrap.local_queue(settings) as queue:
        await _until_ready(queue)
        yield LocalGrader(queue, settings.slot_count)


class LocalGrader:
    """Grades jobs with the slots of this machine. A few jobs for each slot wait in the queue; the others wait here."""

    def __init__(self, queue: JobQueue, slots: int) -> None:
        self._queue = queue
        self._room = asyncio.Semaphore(WAITING * slots)

    async def grade(self, job: Job) -> Grade:
        """Return the grade of a job."""
        async with self._room:
            [waiter] = await self._queue.submit([job])
            try:
                return (await asyncio.shield(waiter.answer)).grade()
            finally:
                waiter.release()

    async def grade_all(self, jobs: Sequence[Job]) -> list[Grade]:
        """Return the grades of the jobs, in order."""
        return list(await asyncio.gather(*map(self.grade, jobs)))


async def _until_ready(queue: LocalQueue) -> None:
    """Wait for the first proved jail. Raise UnavailableError if every slot has failed; the queue would wait longer."""
    while queue.unready():
        if queue.is_hopeless:
            raise UnavailableError(f"no jail could be started: {queue.slots[0].reason} (see proctor doctor)")
        await asyncio.sleep(POLL_SECONDS)
