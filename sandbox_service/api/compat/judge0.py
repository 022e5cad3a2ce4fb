"""`POST /submissions` and what belongs to it, as Judge0 answers them: ms-swift asks for them, and many tools.

Asked: `{source_code, language_id, stdin, expected_output, cpu_time_limit, wall_time_limit, memory_limit}` (seconds,
KiB), with `?base64_encoded=true` as base 64; without `expected_output` a program is only run. With `?wait=true` the
answer is 201 and the result: `{status: {id, description}, stdout, stderr, compile_output, message, exit_code,
exit_signal, time, wall_time, memory, token}`. Without it, 201 and `{token}`; the result is kept for as long as the
service keeps answers, and `GET /submissions/{token}` gives it, with status 1 until then. The token says whether output
is compared, so nothing is kept here. `/submissions/batch` takes and gives many.

ms-swift waits for five minutes, asks once, and counts every status but `Accepted` as a failed test. A fault is status
13, `Internal Error`, after all tries are made; of a batch, 503 where the queue is full. A field that is wrong or asks
for what is not served is 422 and `{field: [words]}`.

What is otherwise than there: only Python is known, as ids 71, 92, 100 and 109; without limits, a program may take 5 s
of CPU time and this service's default memory; the wall clock counts as it does everywhere here; one process, whatever
`max_processes_and_or_threads` says; one run, whatever `number_of_runs` says; no more time than `cpu_time_limit`.
Outputs are compared as there: lines, without white space at their ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, RootModel, ValidationError

from sandbox_service.api.compat.desk import Desk
from sandbox_service.api.compat.judge0_wire import (
    COMPARED,
    IN_QUEUE,
    INTERNAL,
    PYTHON,
    RUN,
    STATUSES,
    Judge0Submission,
    Wrong,
    answer_of,
    asked_of,
    empty,
    encoded,
    status_of,
    token_of,
)
from sandbox_service.api.compat.running import python_version
from sandbox_service.api.documents import Responses, refuses, takes
from sandbox_service.api.intake import Intake, describe
from sandbox_service.api.keys import key_of
from sandbox_service.errors import BadRequest, NotFound, QueueFull, Unavailable
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Submission
from sandbox_service.settings import Settings

PATIENCE_SECONDS = 290.0  # ms-swift waits for 300
UNKNOWN: Responses = {404: {"description": "not known, or no more"}}
LABELS = {"client": "judge0"}
WRONG: Responses = {422: {"description": "`{field: [words]}`, or what is refused"}}


class _Anything(RootModel[dict[str, Any]]):
    """A body, whose fields are looked at one by one: what is wrong is told by their names."""


class Judge0Batch(BaseModel):
    """Many."""

    submissions: list[dict[str, Any]] = Field(min_length=1)


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`/submissions`, `/submissions/batch`, `/submissions/{token}`, `/languages`, `/statuses`, `/about`."""
    router = APIRouter(tags=["Judge0"])
    desk = Desk(queue, settings, LABELS["client"])
    shelf = _Shelf(queue, settings)

    @router.post(
        "/submissions",
        status_code=201,
        openapi_extra=takes(Judge0Submission),
        responses=refuses() | WRONG,
        summary="Take a program, as Judge0 does",
    )
    @router.post("/submissions/", status_code=201, include_in_schema=False)
    async def submit(request: Request, base64_encoded: bool = False, wait: bool = False) -> Response:
        given = await desk.read(request, _Anything)
        try:
            asked = asked_of(given.root, base64_encoded)
        except Wrong as wrong:
            return JSONResponse(wrong.fields, 422)
        token = token_of(asked)
        if wait:
            return JSONResponse(encoded(await _waited(desk, request, asked, token), base64_encoded), 201)
        await shelf.keep(request, {token: asked})
        return JSONResponse({"token": token}, 201)

    @router.post(
        "/submissions/batch",
        status_code=201,
        openapi_extra=takes(Judge0Batch),
        responses=refuses() | WRONG,
        summary="Take many programs",
    )
    async def submit_many(request: Request, base64_encoded: bool = False) -> Response:
        batch = await desk.read(request, Judge0Batch)
        _check_many(batch.submissions, settings)
        taken, told = _sorted(batch, base64_encoded)
        await shelf.keep(request, taken)
        return JSONResponse(told, 201 if taken else 422)

    @router.get("/submissions/batch", responses=refuses(), summary="What became of many")
    async def results(tokens: Annotated[str, Query()], base64_encoded: bool = False) -> dict[str, Any]:
        named = tokens.split(",")
        _check_many(named, settings)
        return {"submissions": [await shelf.find(token, base64_encoded) for token in named]}

    @router.get("/submissions/{token}", responses=refuses() | UNKNOWN, summary="What became of a program")
    async def result(token: str, base64_encoded: bool = False) -> dict[str, Any]:
        found = await shelf.find(token, base64_encoded)
        if found is None:
            raise NotFound(f"no submission {token[:80]!r} is known here, or it is known no more")
        return found

    router.include_router(_about(queue))
    return router


def _about(queue: JobQueue) -> APIRouter:
    router = APIRouter()

    @router.get("/languages", summary="What can be run, as Judge0 says it")
    async def languages() -> list[dict[str, Any]]:
        return [{"id": number, "name": f"Python ({python_version(queue)})"} for number in PYTHON]

    @router.get("/statuses", summary="What may become of a program")
    async def statuses() -> list[dict[str, Any]]:
        return [status_of(number) for number in STATUSES]

    @router.get("/about", summary="What this is, as Judge0 says it")
    async def about() -> dict[str, str]:
        return {"version": version("proctor"), "homepage": "", "source_code": "", "maintainer": "proctor"}

    return router


class _Shelf:
    """Programs whose results are asked for later, kept by the queue."""

    def __init__(self, queue: JobQueue, settings: Settings) -> None:
        self._queue = queue
        self._settings = settings

    async def keep(self, request: Request, wanted: Mapping[str, Judge0Submission]) -> None:
        """Take all of them, by their tokens, or none. Raises BadRequest, Unavailable."""
        intake = Intake(self._settings, self._queue.suite, key_of(request))
        jobs = [await intake.of(_submission(token, asked), keep=True) for token, asked in wanted.items()]
        try:
            tickets = await self._queue.submit(jobs)
        except QueueFull as error:
            raise Unavailable(f"queue is full: {error}") from None
        for ticket in tickets:
            ticket.release()

    async def find(self, token: str, is_encoded: bool) -> dict[str, Any] | None:
        """What became of it, as far as is known; None of what is not known."""
        ticket = await self._queue.find(token) if token.startswith((COMPARED, RUN)) else None
        if ticket is None:
            return None
        try:
            if not ticket.answer.done():
                return empty(token, IN_QUEUE)
            return encoded(answer_of(ticket.answer.result().grade(), token), is_encoded)
        finally:
            ticket.release()


async def _waited(desk: Desk, request: Request, asked: Judge0Submission, token: str) -> dict[str, Any]:
    try:
        return answer_of(await desk.grade(request, {"id": token, **asked.fields()}, PATIENCE_SECONDS), token)
    except Unavailable as error:
        return empty(token, INTERNAL, str(error))


def _submission(token: str, asked: Judge0Submission) -> Submission:
    """Raises BadRequest."""
    try:
        return Submission.model_validate({"id": token, "labels": LABELS, **asked.fields()})
    except ValidationError as error:
        raise BadRequest(describe(error)) from None


def _sorted(batch: Judge0Batch, is_encoded: bool) -> tuple[dict[str, Judge0Submission], list[dict[str, Any]]]:
    """Those of a batch that can be taken, by their tokens, and what is told of each."""
    taken: dict[str, Judge0Submission] = {}
    told: list[dict[str, Any]] = []
    for given in batch.submissions:
        try:
            asked = asked_of(given, is_encoded)
        except Wrong as wrong:
            told.append(dict(wrong.fields))
            continue
        token = token_of(asked)
        taken[token] = asked
        told.append({"token": token})
    return taken, told


def _check_many(wanted: Sequence[Any], settings: Settings) -> None:
    if len(wanted) > settings.max_batch:
        raise BadRequest(f"{len(wanted)} submissions in one batch, the most is {settings.max_batch}")
