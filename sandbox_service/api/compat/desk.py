"""Grades for clients who know nothing of queues: they are held instead of sent away, and our faults are tried again.

A client that goes away has its submissions cancelled, held ones too. Who is told that the time is over will ask again
in a moment, and is not to find itself at the end of the queue: its submissions keep their places for so long.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from sandbox_service import truths
from sandbox_service.answers import Answer
from sandbox_service.api import body
from sandbox_service.api.intake import Intake, describe
from sandbox_service.api.keys import key_of
from sandbox_service.api.waiting import unless_gone
from sandbox_service.errors import BadRequest, QueueFull, Unavailable
from sandbox_service.queues.base import Job, JobQueue, Ticket
from sandbox_service.schema import Grade, Submission
from sandbox_service.settings import Settings

TRIES = 3  # at a submission that we could not grade
LONGEST_PAUSE_SECONDS = 1.0
LINGER_SECONDS = 5.0  # these clients pause for one or two before they ask again
CLOSING = "closing"  # as queues say it
THEIRS = frozenset({"bad_test", "cancelled"})  # these faults are the request's
HOPELESS = THEIRS | {"bad_submission", "worker_lost"}  # another try would not change these, or might harm again

Model = TypeVar("Model", bound=BaseModel)


def tests_of(
    truth: Any,
    where: str = "tests",  # noqa: PT028 it is no test
    read: Callable[[Any], dict[str, Any]] = truths.read,  # noqa: PT028
) -> dict[str, Any]:
    """The fields of a submission that a ground truth has, whatever its shape. Raises BadRequest that says `where`."""
    try:
        return read(truth)
    except ValidationError as error:
        raise BadRequest(describe(error, (where,))) from None
    except ValueError as error:
        raise BadRequest(f"{where}: {error}") from None


class Desk:
    """Where compatibility routes have their submissions graded. `name`: of the route, as one of the queue's clients."""

    def __init__(self, queue: JobQueue, settings: Settings, name: str) -> None:
        self._queue = queue
        self._settings = settings
        self._labels = {"client": name}
        self._lingering: dict[tuple[str, bytes], str] = {}  # ids of those whose time was over, by client and work

    async def read(self, request: Request, model: type[Model]) -> Model:
        """The request's body. Raises ValidationError, BadRequest for what is no body at all, Unavailable."""
        try:
            return model.model_validate_json(await body.read(request, self._settings.max_body_bytes))
        except QueueFull as error:  # bodies that are arriving: these clients know no 429
            raise Unavailable(str(error)) from None

    async def grade(self, request: Request, fields: Mapping[str, Any], seconds: float) -> Grade:
        """The grade of a submission of these fields; see `many`."""
        [grade] = await self.many(request, [fields], seconds)
        return grade

    async def many(self, request: Request, submissions: Sequence[Mapping[str, Any]], seconds: float) -> list[Grade]:
        """The grades of submissions of these fields; of faults, too, when they have been tried often enough.

        Each is held and tried again by itself. Raises BadRequest; Unavailable if `seconds` are over for one of them
        (when all others are graded, so that the cache has them); ClientDisconnect if nobody waits any more. The body
        must have been read.
        """
        asked = [self._submission(fields) for fields in submissions]
        intake = Intake(self._settings, self._queue.suite, key_of(request))
        work = asyncio.ensure_future(_all(self._within(seconds, intake, each) for each in asked))
        try:
            found = await unless_gone(request, work)
        finally:
            work.cancel()
        if found is None:
            raise ClientDisconnect
        return _whole(found)

    async def verdict(self, request: Request, fields: Mapping[str, Any], seconds: float) -> Grade:
        """As `grade`, for routes that have no words for a fault. Raises Unavailable instead, or BadRequest."""
        [grade] = await self.verdicts(request, [fields], seconds)
        return grade

    async def verdicts(self, request: Request, submissions: Sequence[Mapping[str, Any]], seconds: float) -> list[Grade]:
        """As `many`, for routes that have no words for a fault. Raises Unavailable instead, or BadRequest."""
        return _whole([_verdict(grade) for grade in await self.many(request, submissions, seconds)])

    def _submission(self, fields: Mapping[str, Any]) -> Submission:
        try:
            return Submission.model_validate({"labels": self._labels, **fields})
        except ValidationError as error:
            raise BadRequest(describe(error)) from None

    async def _within(self, seconds: float, intake: Intake, submission: Submission) -> Grade:
        held = _Held()
        try:
            async with asyncio.timeout(seconds):
                return await self._grade(intake, submission, held)
        except TimeoutError:
            self._linger(held)
            raise Unavailable(f"not graded within {seconds:g} s: {held.reason}") from None
        finally:
            held.release()

    def _linger(self, held: _Held) -> None:
        """Keep a place in the queue for the same work, of the same client, that is about to come again."""
        job, ticket = held.job, held.ticket
        if job is None or ticket is None:
            return
        held.ticket = None
        place = (job.client, job.digest)
        self._lingering[place] = job.id

        def leave() -> None:
            ticket.release()
            if self._lingering.get(place) == job.id:
                del self._lingering[place]

        asyncio.get_running_loop().call_later(LINGER_SECONDS, leave)

    async def _grade(self, intake: Intake, submission: Submission, held: _Held) -> Grade:
        for _ in range(TRIES):
            held.job = await intake.of(submission)
            if not submission.id:
                place = (held.job.client, held.job.digest)
                held.job = replace(held.job, id=self._lingering.pop(place, held.job.id))
            answer = await self._answer(held.job, held)
            head = answer.head
            if not answer.is_fault or head["failure_kind"] in HOPELESS:
                break
            held.reason = f"{head['failure_kind']}: {head['failure_reason']}"
        return answer.grade()

    async def _answer(self, job: Job, held: _Held) -> Answer:
        """The queue's answer, whenever it takes it. Those that are held do not all come back at once."""
        while True:
            try:
                [held.ticket] = await self._queue.submit([job])
                answer = await asyncio.shield(held.ticket.answer)
                held.release()
                return answer
            except QueueFull as error:
                held.reason, pause = str(error), error.retry_after_seconds
            except Unavailable as error:
                held.release()
                if CLOSING in self._queue.unready():
                    raise  # another try here is in vain, and the client may find us again when we are back
                held.reason, pause = str(error), LONGEST_PAUSE_SECONDS
            await asyncio.sleep(min(pause, LONGEST_PAUSE_SECONDS) * random.uniform(0.1, 1.0))  # noqa: S311 no secret


class _Held:
    """A submission that is not graded yet: why, and its place in the queue if it has one."""

    def __init__(self) -> None:
        self.reason = "it waits, or is still being graded"
        self.job: Job | None = None
        self.ticket: Ticket | None = None

    def release(self) -> None:
        """Give up its place."""
        if self.ticket is not None:
            self.ticket.release()
        self.ticket = None


async def _all(work: Iterable[Awaitable[Grade]]) -> list[Grade | BaseException]:
    """What comes of each, be it an error; nothing is left undone if this is cancelled."""
    return await asyncio.gather(*work, return_exceptions=True)


def _verdict(grade: Grade) -> Grade | BadRequest | Unavailable:
    """The grade, or what to raise instead of a fault."""
    if grade.reward is not None:
        return grade
    reason = f"{grade.failure_kind}: {grade.failure_reason}"
    return BadRequest(reason) if grade.failure_kind in THEIRS else Unavailable(reason)


def _whole(found: Sequence[Grade | BaseException]) -> list[Grade]:
    """All grades. Raises the worst error: one that asking again does not mend."""
    errors = [each for each in found if isinstance(each, BaseException)]
    if errors:
        raise next((each for each in errors if not isinstance(each, Unavailable)), errors[0])
    return [each for each in found if isinstance(each, Grade)]
