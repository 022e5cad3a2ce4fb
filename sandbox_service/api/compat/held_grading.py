"""Grades submissions for clients without a concept of a queue: holds refused submissions and retries faults.

If a client disconnects, its submissions are cancelled, including held ones. A client whose time is over usually sends
the same request again within seconds; its submissions keep their place in the queue for that time.
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

from sandbox_service.api import json_bounds, request_body
from sandbox_service.api.authentication import key_name
from sandbox_service.api.disconnects import wait_unless_disconnected
from sandbox_service.api.intake import SMALL_BODY_BYTES, Intake
from sandbox_service.errors import BadRequestError, QueueFullError, UnavailableError
from sandbox_service.errors.fields import describe
from sandbox_service.formats import ground_truth
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.grading.retries import MOST_SUBMISSIONS, ROUTES
from sandbox_service.queues.base import Job, JobQueue, Waiter
from sandbox_service.schema import REQUEST_FAULTS, Grade, Submission
from sandbox_service.settings import Settings

LONGEST_PAUSE_SECONDS = 1.0
LINGER_SECONDS = 5.0  # these clients pause for one or two before they retry
CLOSING = "closing"  # the reason that queues give

Model = TypeVar("Model", bound=BaseModel)


def tests_of(
    truth: Any,
    where: str = "tests",  # noqa: PT028 - not a test
    read: Callable[[Any], dict[str, Any]] = ground_truth.read,  # noqa: PT028
) -> dict[str, Any]:
    """Return the fields of a submission that a ground truth contains, in any format.

    Args:
        truth: The ground truth.
        where: Its path in the request, for error messages.
        read: The function that reads it; raises ValueError.

    Raises:
        BadRequestError: The ground truth is invalid.
    """
    try:
        return read(truth)
    except ValidationError as error:
        raise BadRequestError(describe(error, (where,))) from None
    except ValueError as error:
        raise BadRequestError(f"{where}: {error}") from None


class HeldGrading:
    """Grades the submissions of one compatibility route.

    Args:
        queue: The queue.
        settings: The service's settings.
        name: The route's name, which is the client's label in the queue.
    """

    def __init__(self, queue: JobQueue, settings: Settings, name: str) -> None:
        self._queue = queue
        self._settings = settings
        self._labels = {"client": name}
        self._lingering: dict[tuple[str, bytes], str] = {}  # ids of timed-out submissions, by client and work

    async def read(self, request: Request, model: type[Model]) -> Model:
        """Return the parsed body of the request.

        Raises:
            ValidationError: A field is invalid.
            BadRequestError: The body is not JSON.
            UnavailableError: Too many bytes are arriving at once.
            LargeBodyError: The body is too large for the event loop.
        """
        most = self._settings.max_body_bytes
        try:
            found = await request_body.read(request, most)
            return model.model_validate_json(found) if len(found) <= SMALL_BODY_BYTES else _large(found, model, most)
        except QueueFullError as error:  # these clients do not understand 429
            raise UnavailableError(str(error)) from None

    async def grade(self, request: Request, fields: Mapping[str, Any], seconds: float) -> Grade:
        """Return the grade of a submission with these fields; see `many`."""
        [grade] = await self.many(request, [fields], seconds)
        return grade

    async def many(self, request: Request, submissions: Sequence[Mapping[str, Any]], seconds: float) -> list[Grade]:
        """Return the grades of several submissions. Each is held and retried by itself.

        Args:
            request: The request, whose body must have been read.
            submissions: Fields of submissions.
            seconds: The time limit for each.

        Returns:
            A grade per submission. It may be a fault, after all retries.

        Raises:
            BadRequestError: A submission is invalid.
            UnavailableError: A submission was not graded in time. All others are graded first, so that the cache has
                them.
            ClientDisconnect: The client disconnected.
        """
        validated = [self._submission(fields) for fields in submissions]
        intake = Intake(self._settings, self._queue.suite, key_name(request))
        work = asyncio.ensure_future(_all(self._within(seconds, intake, each) for each in validated))
        try:
            found = await wait_unless_disconnected(request, work)
        finally:
            work.cancel()
        if found is None:
            raise ClientDisconnect
        return _whole(found)

    async def verdict(self, request: Request, fields: Mapping[str, Any], seconds: float) -> Grade:
        """Return the grade like `grade`, for a route that cannot express a fault; see `verdicts`."""
        [grade] = await self.verdicts(request, [fields], seconds)
        return grade

    async def verdicts(self, request: Request, submissions: Sequence[Mapping[str, Any]], seconds: float) -> list[Grade]:
        """Return the grades like `many`, within so many seconds, for a route that cannot express a fault.

        Args:
            request: The request, whose body must have been read.
            submissions: Fields of submissions.
            seconds: The time limit for all of them.

        Raises:
            BadRequestError: A submission is invalid, or the request caused the fault.
            UnavailableError: A submission was not graded in time, or the service failed.
            ClientDisconnect: The client disconnected.
        """
        return _whole([_verdict(grade) for grade in await self.many(request, submissions, seconds)])

    def _submission(self, fields: Mapping[str, Any]) -> Submission:
        json_bounds.check_submission(fields, self._settings.max_tests)
        try:
            return Submission.model_validate({"labels": self._labels, **fields})
        except ValidationError as error:
            raise BadRequestError(describe(error)) from None

    async def _within(self, seconds: float, intake: Intake, submission: Submission) -> Grade:
        held = _HeldSubmission()
        try:
            async with asyncio.timeout(seconds):
                return await self._grade(intake, submission, held)
        except TimeoutError:
            self._linger(held)
            raise UnavailableError(f"not graded within {seconds:g} s: {held.reason}") from None
        finally:
            held.release()

    def _linger(self, held: _HeldSubmission) -> None:
        """Keep the submission's place in the queue for a while, for the same work of the same client."""
        job, waiter = held.job, held.waiter
        if job is None or waiter is None:
            return
        held.waiter = None
        place = (job.client, job.digest)
        self._lingering[place] = job.id

        def leave() -> None:
            waiter.release()
            if self._lingering.get(place) == job.id:
                del self._lingering[place]

        asyncio.get_running_loop().call_later(LINGER_SECONDS, leave)

    async def _grade(self, intake: Intake, submission: Submission, held: _HeldSubmission) -> Grade:
        for _ in range(MOST_SUBMISSIONS):
            held.job = await intake.of(submission)
            if not submission.id:
                place = (held.job.client, held.job.digest)
                held.job = replace(held.job, id=self._lingering.pop(place, held.job.id))
            answer = await self._answer(held.job, held)
            head = answer.head
            if not answer.is_fault or head["failure_kind"] not in ROUTES:
                break
            held.reason = f"{head['failure_kind']}: {head['failure_reason']}"
        return answer.grade()

    async def _answer(self, job: Job, held: _HeldSubmission) -> EncodedGrade:
        """Return the queue's answer, submitting until the queue accepts. Random pauses spread the retries."""
        while True:
            try:
                [held.waiter] = await self._queue.submit([job])
                answer = await asyncio.shield(held.waiter.answer)
                held.release()
                return answer
            except QueueFullError as error:
                held.reason, pause = str(error), error.retry_after_seconds
            except UnavailableError as error:
                held.release()
                if CLOSING in self._queue.unready():
                    raise  # retrying here is futile; the client may retry when the service is back
                held.reason, pause = str(error), LONGEST_PAUSE_SECONDS
            await asyncio.sleep(min(pause, LONGEST_PAUSE_SECONDS) * random.uniform(0.1, 1.0))  # noqa: S311 - jitter


def _large(found: bytes, model: type[Model], most: int) -> Model:
    """Parse a large body within the memory limit. Raise ValidationError or BadRequestError."""
    return model.model_validate(json_bounds.parse(found, most))


class _HeldSubmission:
    """A submission that is not graded yet: the reason, and its waiter once it is queued."""

    def __init__(self) -> None:
        self.reason = "it is waiting in the queue or being graded"
        self.job: Job | None = None
        self.waiter: Waiter | None = None

    def release(self) -> None:
        """Give up its place in the queue."""
        if self.waiter is not None:
            self.waiter.release()
        self.waiter = None


async def _all(work: Iterable[Awaitable[Grade]]) -> list[Grade | BaseException]:
    """Return each result or exception. If this is cancelled, so is the work."""
    return await asyncio.gather(*work, return_exceptions=True)


def _verdict(grade: Grade) -> Grade | BadRequestError | UnavailableError:
    """Return the grade, or the exception to raise for a fault."""
    if grade.reward is not None:
        return grade
    reason = f"{grade.failure_kind}: {grade.failure_reason}"
    return BadRequestError(reason) if grade.failure_kind in REQUEST_FAULTS else UnavailableError(reason)


def _whole(found: Sequence[Grade | BaseException]) -> list[Grade]:
    """Return all grades, or raise an error, preferably one that a retry would not fix."""
    errors = [each for each in found if isinstance(each, BaseException)]
    if errors:
        raise next((each for each in errors if not isinstance(each, UnavailableError)), errors[0])
    return [each for each in found if isinstance(each, Grade)]
