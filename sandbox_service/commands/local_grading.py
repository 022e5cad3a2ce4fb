"""Grades a batch without a service, with the queue and slots that a service has."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

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
    jobs = await _admitted(settings, body)
    async with bootstrap.local_queue(settings) as queue:
        await _until_ready(queue)
        room = asyncio.Semaphore(WAITING * settings.slot_count)
        tasks = [asyncio.create_task(_grade(queue, job, room)) for job in jobs]
        try:
            for answer in asyncio.as_completed(tasks):
                take(await answer)
        finally:  # interrupted, or stdout was closed
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _admitted(settings: Settings, body: bytes) -> list[Job]:
    """Return the jobs within this machine's limits. All share one problem, so errors do not name a submission."""
    try:
        return await Intake(settings, _no_suite).many(body)
    except BadRequestError as error:
        raise BadRequestError(str(error).removeprefix("submissions[0]: ")) from None


async def _no_suite(_: str) -> None:
    """Find no suite: a problem file contains its tests."""


async def _grade(queue: JobQueue, job: Job, room: asyncio.Semaphore) -> Grade:
    async with room:
        [waiter] = await queue.submit([job])
        try:
            return (await asyncio.shield(waiter.answer)).grade()
        finally:
            waiter.release()


async def _until_ready(queue: LocalQueue) -> None:
    """Wait for the first proven jail. Raise UnavailableError if every slot has failed; the queue would wait longer."""
    while queue.unready():
        if queue.is_hopeless:
            raise UnavailableError(f"no jail could be started: {queue.slots[0].reason} (see proctor doctor)")
        await asyncio.sleep(POLL_SECONDS)
