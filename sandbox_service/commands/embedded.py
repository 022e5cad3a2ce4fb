"""Grading without a service: with the queue and the slots that a service has, for as long as it takes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from sandbox_service import bootstrap
from sandbox_service.api.intake import Intake
from sandbox_service.errors import BadRequest, Unavailable
from sandbox_service.queues.base import Job, JobQueue
from sandbox_service.queues.local import LocalQueue
from sandbox_service.schema import Grade
from sandbox_service.settings import PREFIX, Settings

LOOK_SECONDS = 0.02
WAITING = 4  # submissions in the queue for each slot: enough that none is idle


def grade_all(settings: Settings, body: bytes, take: Callable[[Grade], None]) -> None:
    """Grade a batch; `take` gets each grade as it is made. Raises BadRequest, Unavailable."""
    os.environ.setdefault(f"{PREFIX}LOG_LEVEL", "warning")  # slots say hello and good-bye to a service's log only
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
        finally:  # interrupted, or nobody reads on
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _admitted(settings: Settings, body: bytes) -> list[Job]:
    """The jobs, if they are within what this machine's settings allow; all share one problem."""
    try:
        return await Intake(settings, _no_suite).many(body)
    except BadRequest as error:
        raise BadRequest(str(error).removeprefix("submissions[0]: ")) from None


async def _no_suite(_: str) -> None:
    """A problem file brings its tests along."""


async def _grade(queue: JobQueue, job: Job, room: asyncio.Semaphore) -> Grade:
    async with room:
        [ticket] = await queue.submit([job])
        try:
            return (await asyncio.shield(ticket.answer)).grade()
        finally:
            ticket.release()


async def _until_ready(queue: LocalQueue) -> None:
    """Until a jail is proved. Raises Unavailable if every slot has tried in vain; the queue would wait longer."""
    while queue.unready():
        if queue.is_hopeless:
            raise Unavailable(f"no jail here: {queue.slots[0].reason} (proctor doctor says more)")
        await asyncio.sleep(LOOK_SECONDS)
