"""The routes that grade while the client waits: `POST /v1/grade` and `POST /v1/grade/batch`."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Sequence

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from sandbox_service.api import request_body
from sandbox_service.api.authentication import key_name
from sandbox_service.api.disconnects import wait_unless_disconnected
from sandbox_service.api.error_responses import CLIENT_CLOSED_REQUEST, error_response
from sandbox_service.api.intake import Intake
from sandbox_service.api.openapi import ERROR_STATUSES, request_schema, response_schemas
from sandbox_service.errors import ProctorError
from sandbox_service.event_loop import wait_event
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.queues.base import JobQueue, Waiter, soonest_first
from sandbox_service.schema import BatchRequest, Grade, Submission
from sandbox_service.settings import Settings

BLANK_LINE_SECONDS = 15.0
GATHER_SECONDS = 0.05
NDJSON = "application/x-ndjson"


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `POST /v1/grade` and `POST /v1/grade/batch`."""
    router = APIRouter(prefix="/v1", tags=["grading"])

    @router.post(
        "/grade",
        openapi_extra=request_schema(Submission),
        responses=response_schemas(Grade, ERROR_STATUSES),
        summary="Grade one submission and wait for its grade",
    )
    async def grade(request: Request) -> Response:
        intake = Intake(settings, queue.suite, key_name(request))
        job = await intake.one(await request_body.read(request, settings.max_body_bytes))
        [waiter] = await queue.submit([job])
        try:
            found = await wait_unless_disconnected(request, waiter.answer)
        finally:
            waiter.release()
        if found is None:
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        return Response(found.body, media_type="application/json")

    @router.post(
        "/grade/batch",
        openapi_extra=request_schema(BatchRequest),
        responses=response_schemas(Grade, ERROR_STATUSES, media_type=NDJSON),
        summary="Grade many submissions; each grade is a line, sent as it finishes",
    )
    async def grade_batch(request: Request) -> StreamingResponse:
        intake = Intake(settings, queue.suite, key_name(request))
        jobs = await intake.many(await request_body.read(request, settings.max_body_bytes))
        waiters = await queue.submit(soonest_first(jobs))
        return _BatchResponse(_Batch(waiters))

    return router


class _Batch:
    """Collects the answers to a batch as they arrive and releases each waiter as soon as its line is written."""

    def __init__(self, waiters: Sequence[Waiter]) -> None:
        self._open = {waiter.answer: waiter for waiter in waiters}
        self._lines: list[bytes] = []
        self._has_lines = asyncio.Event()
        self._is_done = asyncio.Event()
        for waiter in waiters:
            waiter.answer.add_done_callback(self._take)

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield a line for each submission as it finishes, and a blank line during long silences as a keep-alive.

        Each send wakes two processes, so lines that finish within 50 ms of each other are sent together.
        """
        sent = -math.inf
        while self._open or self._lines:
            await wait_event(self._has_lines, BLANK_LINE_SECONDS)
            soon = sent + GATHER_SECONDS - time.monotonic()
            if soon > 0:
                await wait_event(self._is_done, soon)
            self._has_lines.clear()
            lines, self._lines = self._lines, []
            sent = time.monotonic()
            yield b"\n".join((*lines, b"")) or b"\n"

    def release(self) -> None:
        """Stop waiting for the submissions that are not finished."""
        for waiter in self._open.values():
            waiter.release()
        self._open.clear()

    def _take(self, answer: asyncio.Future[EncodedGrade]) -> None:
        waiter = self._open.pop(answer, None)
        if waiter is not None:
            waiter.release()
            if not self._lines:
                self._has_lines.set()
            self._lines.append(_line(waiter.id, answer))
            if not self._open:
                self._is_done.set()


class _BatchResponse(StreamingResponse):
    """The lines of a batch. Releases the waiters when the response ends, so work without a client is not graded."""

    def __init__(self, batch: _Batch) -> None:
        super().__init__(batch.lines(), media_type=NDJSON)
        self._batch = batch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._batch.release()


def _line(submission_id: str, answer: asyncio.Future[EncodedGrade]) -> bytes:
    error = answer.exception()
    if error is None:
        return answer.result().body
    assert isinstance(error, ProctorError)
    return error_response(error).line(submission_id)
