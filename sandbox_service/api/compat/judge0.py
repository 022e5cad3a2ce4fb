"""`POST /submissions` and related routes of Judge0, which ms-swift and many tools use.

Request: `{source_code, language_id, stdin, expected_output, cpu_time_limit, wall_time_limit, memory_limit}` (seconds,
KiB), with `?base64_encoded=true` in base 64. Without `expected_output` a program is only run. With `?wait=true` the
response is 201 and the result: `{status: {id, description}, stdout, stderr, compile_output, message, exit_code,
exit_signal, time, wall_time, memory, token}`. Without it, the response is 201 and `{token}`; `GET /submissions/{token}`
returns the result as long as the service keeps answers, and status 1 until it exists. The token says whether output is
compared, so no state is kept here. `/submissions/batch` submits and returns several.

ms-swift waits for five minutes, does not retry, and counts every status except `Accepted` as a failed test. A fault of
the service is status 13, `Internal Error`, after all retries; for a batch it is 503 if the queue is full. An invalid or
unsupported field is 422 and `{field: [message]}`.

The numbers of languages are Judge0's (`judge0_languages`). `additional_files` and `command_line_arguments` are for
Python; a multi-file program (89) is the script `run` of its archive. `callback_url` is called if its host is listed in
`SANDBOX_CALLBACK_HOSTS`. `?fields=…` selects fields of results; one that no result has here is 422.

Differences: the default limits are 5 s of CPU time and this service's default memory; the wall clock is a backstop as
everywhere here; `max_processes_and_or_threads` and `number_of_runs` are ignored (one process, one run); there is no
extra time beyond `cpu_time_limit`; compiler options, executables (44), a script `compile`, and other numbers are 422;
no file system comes back. Outputs are compared as in Judge0: by lines, without trailing white space.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, RootModel, ValidationError

from sandbox_service.api.authentication import key_name, visible_keys
from sandbox_service.api.compat import judge0_languages
from sandbox_service.api.compat.held_grading import HeldGrading
from sandbox_service.api.compat.installed import versions
from sandbox_service.api.compat.judge0_callbacks import Callbacks
from sandbox_service.api.compat.judge0_config import config_info
from sandbox_service.api.compat.judge0_wire import (
    IN_QUEUE,
    INTERNAL,
    STATUSES,
    InvalidRequestError,
    Judge0Submission,
    answer_of,
    empty,
    encoded,
    id_of,
    is_token,
    parse_submission,
    status_of,
    token_of,
)
from sandbox_service.api.intake import Intake
from sandbox_service.api.openapi import Responses, compat_error_schemas, request_schema
from sandbox_service.errors import BadRequestError, NotFoundError, QueueFullError, UnavailableError
from sandbox_service.errors.fields import describe
from sandbox_service.queues.base import JobQueue, Waiter
from sandbox_service.schema import Submission
from sandbox_service.settings import Settings

PATIENCE_SECONDS = 290.0  # ms-swift waits for 300
UNKNOWN: Responses = {404: {"description": "unknown or expired"}}
LABELS = {"client": "judge0"}
ALL_FIELDS = "*"
MAINTAINER = f"proctor {version('proctor')}"
WRONG: Responses = {422: {"description": "`{field: [message]}`, or an error"}}


class _Anything(RootModel[dict[str, Any]]):
    """A body of any fields. They are validated later, so that errors name them in Judge0's format."""


class Judge0Batch(BaseModel):
    """Several submissions."""

    submissions: Annotated[list[dict[str, Any]], Field(fail_fast=True)] = Field(min_length=1)


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `/submissions`, `/submissions/batch`, `/submissions/{token}`, `/languages`, `/statuses` and `/about`."""
    router = APIRouter(tags=["Judge0"])
    grading = HeldGrading(queue, settings, LABELS["client"])
    kept = _KeptSubmissions(queue, settings)

    @router.post(
        "/submissions",
        status_code=201,
        openapi_extra=request_schema(Judge0Submission),
        responses=compat_error_schemas() | WRONG,
        summary="Run or judge a program (Judge0)",
    )
    @router.post("/submissions/", status_code=201, include_in_schema=False)
    async def submit(
        request: Request, base64_encoded: bool = False, wait: bool = False, fields: str = ALL_FIELDS
    ) -> Response:
        given = await grading.read(request, _Anything)
        names = _names(fields)
        try:
            payload = parse_submission(given.root, base64_encoded)
            kept.check(payload)
            token = token_of(payload)
            if wait and not payload.callback_url:
                answer = encoded(await _waited(grading, request, payload, token), base64_encoded)
                return JSONResponse(_selected(answer, names), 201)
            await kept.keep(request, {token: payload})
        except InvalidRequestError as error:
            return JSONResponse(error.fields, 422)
        return JSONResponse({"token": token}, 201)

    @router.post(
        "/submissions/batch",
        status_code=201,
        openapi_extra=request_schema(Judge0Batch),
        responses=compat_error_schemas() | WRONG,
        summary="Run or judge several programs (Judge0)",
    )
    async def submit_many(request: Request, base64_encoded: bool = False) -> Response:
        batch = await grading.read(request, Judge0Batch)
        _check_many(batch.submissions, settings)
        accepted, answers = _sorted(batch, base64_encoded, kept.check)
        await kept.keep(request, accepted)
        return JSONResponse(answers, 201 if accepted else 422)

    @router.get("/submissions/batch", responses=compat_error_schemas(), summary="Results of several programs")
    async def results(
        request: Request, tokens: Annotated[str, Query()], base64_encoded: bool = False, fields: str = ALL_FIELDS
    ) -> dict[str, Any]:
        named, names = tokens.split(","), _names(fields)
        _check_many(named, settings)
        found = [await kept.find(token, base64_encoded, visible_keys(request)) for token in named]
        return {"submissions": [each and _selected(each, names) for each in found]}

    @router.get("/submissions/{token}", responses=compat_error_schemas() | UNKNOWN, summary="Result of a program")
    async def result(
        request: Request, token: str, base64_encoded: bool = False, fields: str = ALL_FIELDS
    ) -> dict[str, Any]:
        names = _names(fields)
        found = await kept.find(token, base64_encoded, visible_keys(request))
        if found is None:
            raise NotFoundError(f"no submission {token[:80]!r}: the token is unknown, or its result has expired")
        return _selected(found, names)

    router.include_router(_about(queue, settings))
    return router


def _about(queue: JobQueue, settings: Settings) -> APIRouter:
    router = APIRouter()

    async def known() -> list[dict[str, Any]]:
        return judge0_languages.listed(await versions(queue, settings))

    @router.get("/languages", summary="Languages (Judge0)")
    @router.get("/languages/all", include_in_schema=False)
    async def listed_languages() -> list[dict[str, Any]]:
        return await known()

    @router.get("/languages/{number}", responses=UNKNOWN, summary="A language (Judge0)")
    async def language(number: int) -> dict[str, Any]:
        found = next((each for each in await known() if each["id"] == number), None)
        if found is None:
            raise NotFoundError(f"no language has the id {number} here; see GET /languages")
        return found

    @router.get("/config_info", summary="Limits and features (Judge0)")
    async def config() -> dict[str, Any]:
        return config_info(settings)

    @router.get("/statuses", summary="Statuses of results (Judge0)")
    async def statuses() -> list[dict[str, Any]]:
        return [status_of(number) for number in STATUSES]

    @router.get("/about", summary="Version (Judge0)")
    async def about() -> dict[str, str]:
        return {"version": judge0_languages.API_VERSION, "homepage": "", "source_code": "", "maintainer": MAINTAINER}

    return router


def _names(fields: str) -> list[str]:
    """Return the names of the fields that a client asks for. Raise BadRequestError for one that no result has here."""
    known, wanted = list(empty("", IN_QUEUE)), fields.split(",")
    if ALL_FIELDS in wanted:
        return known
    for name in wanted:
        if name not in known:
            raise BadRequestError(f"fields: {name[:80]!r} is not known; a result has {', '.join(known)}")
    return wanted


def _selected(answer: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: answer[name] for name in names}


class _KeptSubmissions:
    """Submissions whose results the queue keeps for later requests."""

    def __init__(self, queue: JobQueue, settings: Settings) -> None:
        self._queue = queue
        self._settings = settings
        self._callbacks = Callbacks(settings.callback_names)

    def check(self, payload: Judge0Submission) -> None:
        """Raise InvalidRequestError if the submission names a URL that may not be called."""
        refusal = self._callbacks.refusal(payload.callback_url) if payload.callback_url else None
        if refusal is not None:
            raise InvalidRequestError(callback_url=refusal)

    async def keep(self, request: Request, wanted: Mapping[str, Judge0Submission]) -> None:
        """Submit all programs, by their tokens, or none.

        Args:
            request: The request.
            wanted: The programs.

        Raises:
            BadRequestError: One is invalid.
            UnavailableError: The queue is full.
        """
        intake = Intake(self._settings, self._queue.suite, key_name(request))
        jobs = [await intake.of(_submission(token, payload), keep=True) for token, payload in wanted.items()]
        try:
            waiters = await self._queue.submit(jobs)
        except QueueFullError as error:
            raise UnavailableError(f"the queue is full: {error}") from None
        for waiter, (token, payload) in zip(waiters, wanted.items(), strict=True):
            if payload.callback_url:
                self._callbacks.send(payload.callback_url, partial(_answered, waiter, token))
            else:
                waiter.release()

    async def find(self, token: str, is_encoded: bool, keys: Sequence[str]) -> dict[str, Any] | None:
        """Return the result as far as it is known; None for a token that is unknown to the keys.

        Args:
            token: The token.
            is_encoded: True for texts in base 64.
            keys: Names of the API keys whose submissions are found.
        """
        waiter = await self._queue.find(id_of(token), keys) if is_token(token) else None
        if waiter is None:
            return None
        try:
            if not waiter.answer.done():
                return empty(token, IN_QUEUE)
            return encoded(answer_of(waiter.answer.result().grade(), token), is_encoded)
        finally:
            waiter.release()


async def _answered(waiter: Waiter, token: str) -> dict[str, Any]:
    """Return the result for a callback, with texts in base 64, when it exists."""
    try:
        return encoded(answer_of((await asyncio.shield(waiter.answer)).grade(), token), is_encoded=True)
    except UnavailableError as error:
        return encoded(empty(token, INTERNAL, str(error)), is_encoded=True)
    finally:
        waiter.release()


async def _waited(grading: HeldGrading, request: Request, payload: Judge0Submission, token: str) -> dict[str, Any]:
    try:
        return answer_of(
            await grading.grade(request, {"id": id_of(token), **payload.fields()}, PATIENCE_SECONDS), token
        )
    except UnavailableError as error:
        return empty(token, INTERNAL, str(error))


def _submission(token: str, payload: Judge0Submission) -> Submission:
    """Return the submission. Raise BadRequestError if it is invalid."""
    try:
        return Submission.model_validate({"id": id_of(token), "labels": LABELS, **payload.fields()})
    except ValidationError as error:
        raise BadRequestError(describe(error)) from None


def _sorted(
    batch: Judge0Batch, is_encoded: bool, check: Callable[[Judge0Submission], None]
) -> tuple[dict[str, Judge0Submission], list[dict[str, Any]]]:
    """Return the valid submissions of a batch by their tokens, and the response item for each submission."""
    accepted: dict[str, Judge0Submission] = {}
    answers: list[dict[str, Any]] = []
    for given in batch.submissions:
        try:
            payload = parse_submission(given, is_encoded)
            check(payload)
            payload.program()
        except InvalidRequestError as error:
            answers.append(dict(error.fields))
            continue
        token = token_of(payload)
        accepted[token] = payload
        answers.append({"token": token})
    return accepted, answers


def _check_many(wanted: Sequence[Any], settings: Settings) -> None:
    if len(wanted) > settings.max_batch:
        raise BadRequestError(f"{len(wanted)} submissions in one batch, the most is {settings.max_batch}")
