"""Who grades for the validation: the very grader that will pay. Here, with queue and slots as a service has, or there.

A fault of ours (IE) is no statement about a program: what has one is sent again, and in the end is said not to be
judged. A test that cannot be run is no such fault; nor is a problem that is refused (BadRequest): sending it again
would change nothing.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from pydantic import ValidationError

from sandbox_service import bootstrap
from sandbox_service.api.intake import Intake, describe
from sandbox_service.client import AsyncClient
from sandbox_service.errors import BadRequest, ComeBackLater, Unavailable
from sandbox_service.queues.base import Job
from sandbox_service.queues.local import LocalQueue
from sandbox_service.schema import Grade, Verdict
from sandbox_service.settings import Settings

Fields = Mapping[str, Any]

LOOK_SECONDS = 0.02
DISPLAY_BYTES = 64 << 10  # of an output: what comparisons are tried on
WAITING = 4  # submissions in the queue for each slot
TRIES = 5
PATIENCE_SECONDS = 120.0  # with a service, at each try
WAIT_SECONDS = 1.0  # before the second try, doubled before each further one


class Judge(Protocol):
    """Grades submissions that share a problem."""

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        """Their grades, in their order. Raises BadRequest if the problem is refused, Unavailable if nobody grades."""
        ...


@asynccontextmanager
async def here(settings: Settings) -> AsyncIterator[Judge]:
    """This machine, as a service on it would. Raises Unavailable if no jail can be had."""
    settings = settings.model_copy(update={"display_bytes": DISPLAY_BYTES, "cache_seconds": 0.0})
    async with bootstrap.local_queue(settings) as queue:
        await _until_ready(queue)
        yield Patient(_Here(settings, queue))


@asynccontextmanager
async def there(url: str) -> AsyncIterator[Judge]:
    """A service. Raises BadRequest if the address can be none."""
    async with AsyncClient(url, patience_seconds=PATIENCE_SECONDS) as client:
        yield Patient(_There(client))


class Patient:
    """Asks again where the other could not say. What is still IE after that is returned as it is."""

    def __init__(self, judge: Judge, wait_seconds: float = WAIT_SECONDS) -> None:
        self._judge = judge
        self._wait_seconds = wait_seconds

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        """See Judge."""
        grades = await self._once(shared, submissions)
        for number in range(1, TRIES):
            faults = [place for place, grade in enumerate(grades) if is_fault(grade)]
            if not faults:
                break
            await asyncio.sleep(self._wait_seconds * 2 ** (number - 1))
            again = await self._once(shared, [submissions[place] for place in faults])
            for place, grade in zip(faults, again, strict=True):
                grades[place] = grade
        return grades

    async def _once(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        for number in range(TRIES - 1):
            try:
                return await self._judge.grade(shared, submissions)
            except (Unavailable, ComeBackLater):
                await asyncio.sleep(self._wait_seconds * 2**number)
        return await self._judge.grade(shared, submissions)


def is_fault(grade: Grade) -> bool:
    """Whether it says nothing, and another try may say more."""
    return grade.verdict == Verdict.IE and grade.failure_kind != "bad_test"


class _Here:
    def __init__(self, settings: Settings, queue: LocalQueue) -> None:
        self._settings = settings
        self._queue = queue
        self._room = asyncio.Semaphore(WAITING * settings.slot_count)

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        try:
            jobs = await Intake(self._settings, _no_suite).many(_body(shared, submissions)[1])
        except ValidationError as error:
            raise BadRequest(describe(error)) from None
        return list(await asyncio.gather(*(self._grade(job) for job in jobs)))

    async def _grade(self, job: Job) -> Grade:
        async with self._room:
            [ticket] = await self._queue.submit([job])
            try:
                return (await asyncio.shield(ticket.answer)).grade()
            finally:
                ticket.release()


class _There:
    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        return await self._client.grade_many(submissions, defaults=shared)


async def _no_suite(_: str) -> None:
    """A problem brings its tests along."""


async def _until_ready(queue: LocalQueue) -> None:
    """Until a jail is proved. Raises Unavailable if every slot has tried in vain."""
    while queue.unready():
        if queue.is_hopeless:
            raise Unavailable(f"no jail here: {queue.slots[0].reason} (proctor doctor says more)")
        await asyncio.sleep(LOOK_SECONDS)


def _body(shared: Fields, submissions: Sequence[Fields]) -> tuple[list[str], bytes]:
    """The body of a batch, and the ids in it: never used before, for an id is an idempotency key."""
    ids = [secrets.token_hex(12) for _ in submissions]
    named = [{**each, "id": name} for each, name in zip(submissions, ids, strict=True)]
    return ids, json.dumps({"defaults": shared, "submissions": named}).encode()
