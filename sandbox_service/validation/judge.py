"""Judges for the validation: a local queue with slots, or a service. Both use the grader that pays the reward.

A sandbox fault (IE) says nothing about a program: such a submission is sent again, and in the end reported as not
judged. A test that cannot be run and a refused problem (BadRequestError) are final.
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
from sandbox_service.api.intake import Intake
from sandbox_service.client import AsyncClient
from sandbox_service.errors import BadRequestError, RetryLaterError, UnavailableError
from sandbox_service.errors.fields import describe
from sandbox_service.queues.base import Job
from sandbox_service.queues.local import LocalQueue
from sandbox_service.schema import FailureKind, Grade, Verdict
from sandbox_service.settings import Settings

Fields = Mapping[str, Any]

LOOK_SECONDS = 0.02
DISPLAY_BYTES = 64 << 10  # of an output, for trying other checkers
WAITING = 4  # submissions in the queue for each slot
TRIES = 5
PATIENCE_SECONDS = 120.0  # with a service, at each try
WAIT_SECONDS = 1.0  # before the second try, doubled before each further one


class Judge(Protocol):
    """Grades submissions that share a problem."""

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        """Return the grades of the submissions, in order.

        Args:
            shared: Fields that all submissions have in common.
            submissions: The other fields of each.

        Raises:
            BadRequestError: The problem is refused.
            UnavailableError: No grader is available.
        """
        ...


@asynccontextmanager
async def local_judge(settings: Settings) -> AsyncIterator[Judge]:
    """Yield a judge on this machine, with the queue and the slots of a service.

    Raises:
        UnavailableError: No sandbox could be started.
    """
    settings = settings.model_copy(update={"display_bytes": DISPLAY_BYTES, "cache_seconds": 0.0})
    async with bootstrap.local_queue(settings) as queue:
        await _until_ready(queue)
        yield RetryingJudge(_LocalJudge(settings, queue))


@asynccontextmanager
async def remote_judge(url: str) -> AsyncIterator[Judge]:
    """Yield a judge that sends submissions to a service.

    Args:
        url: Base address of the service.

    Raises:
        BadRequestError: `url` is not an address.
    """
    async with AsyncClient(url, patience_seconds=PATIENCE_SECONDS) as client:
        yield RetryingJudge(_RemoteJudge(client))


class RetryingJudge:
    """Sends submissions with a fault again. A grade that is still IE after the last try is returned as it is."""

    def __init__(self, judge: Judge, wait_seconds: float = WAIT_SECONDS) -> None:
        self._judge = judge
        self._wait_seconds = wait_seconds

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        """See `Judge`."""
        grades = await self._grade_once(shared, submissions)
        for number in range(1, TRIES):
            faults = [place for place, grade in enumerate(grades) if is_fault(grade)]
            if not faults:
                break
            await asyncio.sleep(self._wait_seconds * 2 ** (number - 1))
            again = await self._grade_once(shared, [submissions[place] for place in faults])
            for place, grade in zip(faults, again, strict=True):
                grades[place] = grade
        return grades

    async def _grade_once(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        for number in range(TRIES - 1):
            try:
                return await self._judge.grade(shared, submissions)
            except (UnavailableError, RetryLaterError):
                await asyncio.sleep(self._wait_seconds * 2**number)
        return await self._judge.grade(shared, submissions)


def is_fault(grade: Grade) -> bool:
    """Return whether a grade has no verdict and another try may have one."""
    return grade.verdict == Verdict.IE and grade.failure_kind not in (FailureKind.BAD_TEST, FailureKind.BAD_CHECKER)


class _LocalJudge:
    def __init__(self, settings: Settings, queue: LocalQueue) -> None:
        self._settings = settings
        self._queue = queue
        self._in_flight = asyncio.Semaphore(WAITING * settings.slot_count)

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        try:
            jobs = await Intake(self._settings, _no_suite).many(_body(shared, submissions)[1])
        except ValidationError as error:
            raise BadRequestError(describe(error)) from None
        return list(await asyncio.gather(*(self._grade(job) for job in jobs)))

    async def _grade(self, job: Job) -> Grade:
        async with self._in_flight:
            [ticket] = await self._queue.submit([job])
            try:
                return (await asyncio.shield(ticket.answer)).grade()
            finally:
                ticket.release()


class _RemoteJudge:
    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        return await self._client.grade_many(submissions, defaults=shared)


async def _no_suite(_: str) -> None:
    """Refuse suites: a problem has its own tests."""


async def _until_ready(queue: LocalQueue) -> None:
    """Wait until a sandbox is proved. Raises UnavailableError if every slot has failed."""
    while queue.unready():
        if queue.is_hopeless:
            raise UnavailableError(f"no sandbox starts here: {queue.slots[0].reason} (see proctor doctor)")
        await asyncio.sleep(LOOK_SECONDS)


def _body(shared: Fields, submissions: Sequence[Fields]) -> tuple[list[str], bytes]:
    """The body of a batch request and its new ids; an id is an idempotency key."""
    ids = [secrets.token_hex(12) for _ in submissions]
    named = [{**each, "id": name} for each, name in zip(submissions, ids, strict=True)]
    return ids, json.dumps({"defaults": shared, "submissions": named}).encode()
