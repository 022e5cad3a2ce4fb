"""The two routes that grade while the client waits: one submission for one answer, and many as they come."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Sequence

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from sandbox_service.answers import Answer
from sandbox_service.api import body
from sandbox_service.api.documents import GRADE, TROUBLE, gives, takes
from sandbox_service.api.intake import Intake
from sandbox_service.api.keys import key_of
from sandbox_service.api.trouble import CLIENT_CLOSED_REQUEST, answer_to
from sandbox_service.api.waiting import unless_gone
from sandbox_service.chores import within
from sandbox_service.errors import ProctorError
from sandbox_service.queues.base import JobQueue, Ticket
from sandbox_service.schema import BatchRequest, Submission
from sandbox_service.settings import Settings

BLANK_LINE_SECONDS = 15.0
GATHER_SECONDS = 0.05
NDJSON = "application/x-ndjson"


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`POST /v1/grade` and `POST /v1/grade/batch`."""
    router = APIRouter(prefix="/v1", tags=["grading"])

    @router.post(
        "/grade", openapi_extra=takes(Submission), responses=gives(GRADE, TROUBLE), summary="Grade one submission"
    )
    async def grade(request: Request) -> Response:
        intake = Intake(settings, queue.suite, key_of(request))
        job = await intake.one(await body.read(request, settings.max_body_bytes))
        [ticket] = await queue.submit([job])
        try:
            found = await unless_gone(request, ticket.answer)
        finally:
            ticket.release()
        if found is None:
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        return Response(found.body, media_type="application/json")

    @router.post(
        "/grade/batch",
        openapi_extra=takes(BatchRequest),
        responses=gives(GRADE, TROUBLE, media_type=NDJSON),
        summary="Grade many, with a line for each as it finishes",
    )
    async def grade_batch(request: Request) -> StreamingResponse:
        intake = Intake(settings, queue.suite, key_of(request))
        tickets = await queue.submit(await intake.many(await body.read(request, settings.max_body_bytes)))
        return _Answers(_Batch(tickets))

    return router


class _Batch:
    """The answers to many submissions, as they come; each is let go when it has become a line."""

    def __init__(self, tickets: Sequence[Ticket]) -> None:
        self._open = {ticket.answer: ticket for ticket in tickets}
        self._lines: list[bytes] = []
        self._has_lines = asyncio.Event()
        self._is_done = asyncio.Event()
        for ticket in tickets:
            ticket.answer.add_done_callback(self._take)

    async def lines(self) -> AsyncIterator[bytes]:
        """A line for each submission as it finishes; a blank one now and then, so that nobody takes us for dead.

        Sending wakes up two processes, whether it is one line or ten; so those that come soon after others gather.
        """
        sent = -math.inf
        while self._open or self._lines:
            await within(BLANK_LINE_SECONDS, self._has_lines)
            soon = sent + GATHER_SECONDS - time.monotonic()
            if soon > 0:
                await within(soon, self._is_done)
            self._has_lines.clear()
            lines, self._lines = self._lines, []
            sent = time.monotonic()
            yield b"\n".join((*lines, b"")) or b"\n"

    def release(self) -> None:
        """What is not finished is not waited for any more."""
        for ticket in self._open.values():
            ticket.release()
        self._open.clear()

    def _take(self, answer: asyncio.Future[Answer]) -> None:
        ticket = self._open.pop(answer, None)
        if ticket is not None:
            ticket.release()
            self._lines.append(_line(ticket.id, answer))
            self._has_lines.set()
            if not self._open:
                self._is_done.set()


class _Answers(StreamingResponse):
    """A batch's lines. Whatever becomes of the client, even before the first line, nothing is graded for nobody."""

    def __init__(self, batch: _Batch) -> None:
        super().__init__(batch.lines(), media_type=NDJSON)
        self._batch = batch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._batch.release()


def _line(submission_id: str, answer: asyncio.Future[Answer]) -> bytes:
    error = answer.exception()
    if error is None:
        return answer.result().body
    assert isinstance(error, ProctorError)
    return answer_to(error).line(submission_id)
