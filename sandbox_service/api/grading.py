"""The two routes that grade: one submission for one answer, and many with answers as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from sandbox_service.api import body, intake
from sandbox_service.api.trouble import answer_to
from sandbox_service.errors import ProctorError
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import BatchRequest, Grade, Submission
from sandbox_service.settings import Settings

BLANK_LINE_SECONDS = 15.0
CLIENT_CLOSED_REQUEST = 499  # nobody reads it; the access log does
NDJSON = "application/x-ndjson"
TROUBLE = {
    401: "no key",
    409: "id reused with another body",
    413: "body too large",
    422: "what is wrong, field by field",
    429: "queue full",
    503: "no usable jail, or closing",
}


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`POST /v1/grade` and `POST /v1/grade/batch`."""
    router = APIRouter(prefix="/v1", tags=["grading"])

    @router.post(
        "/grade", openapi_extra=_takes(Submission), responses=_gives("application/json"), summary="Grade one submission"
    )
    async def grade(request: Request) -> Response:
        submission = intake.one(await body.read(request, settings.max_body_bytes), settings)
        queue.submit(submission)
        try:
            found = await _unless_gone(request, queue.wait(submission.id))
        finally:
            queue.release(submission.id)
        if found is None:
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        return Response(found.model_dump_json(), media_type="application/json")

    @router.post("/grade/batch", openapi_extra=_takes(BatchRequest), responses=_gives(NDJSON), summary="Grade many")
    async def grade_batch(request: Request) -> StreamingResponse:
        submissions = intake.many(await body.read(request, settings.max_body_bytes), settings)
        queue.room_for(len(submissions))
        _submit_all(queue, submissions)
        return StreamingResponse(_Batch(queue, submissions).lines(), media_type=NDJSON)

    return router


def _submit_all(queue: JobQueue, submissions: list[Submission]) -> None:
    """Either all are taken or none."""
    taken: list[str] = []
    try:
        for submission in submissions:
            queue.submit(submission)
            taken.append(submission.id)
    except ProctorError:
        for submission_id in taken:
            queue.release(submission_id)
        raise


async def _unless_gone(request: Request, answer: Coroutine[None, None, Grade]) -> Grade | None:
    """The answer; None if the client goes away first."""
    waiting = asyncio.ensure_future(answer)
    gone = asyncio.ensure_future(_until_gone(request))
    try:
        await asyncio.wait({waiting, gone}, return_when=asyncio.FIRST_COMPLETED)
        return waiting.result() if waiting.done() else None
    finally:
        waiting.cancel()
        gone.cancel()


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class _Batch:
    """The answers to many submissions, as they come."""

    def __init__(self, queue: JobQueue, submissions: list[Submission]) -> None:
        self._queue = queue
        self._ids = [submission.id for submission in submissions]
        self._finished: asyncio.Queue[bytes] = asyncio.Queue()
        # begun at once: an answer is only sure to be kept for those who already wait for it
        self._tasks = [asyncio.create_task(self._wait(submission_id)) for submission_id in self._ids]

    async def lines(self) -> AsyncIterator[bytes]:
        """A line for each submission as it finishes; a blank one now and then, so that nobody takes us for dead."""
        try:
            left = len(self._ids)
            while left:
                lines = await self._next_lines()
                left -= len(lines)
                yield b"".join(lines) or b"\n"
        finally:  # also when the client has gone: what it waited for is cancelled
            for task, submission_id in zip(self._tasks, self._ids, strict=True):
                task.cancel()
                self._queue.release(submission_id)

    async def _next_lines(self) -> list[bytes]:
        """All that has finished; nothing if nothing did for a while."""
        try:
            lines = [await asyncio.wait_for(self._finished.get(), BLANK_LINE_SECONDS)]
        except TimeoutError:
            return []
        while not self._finished.empty():
            lines.append(self._finished.get_nowait())
        return lines

    async def _wait(self, submission_id: str) -> None:
        with suppress(asyncio.CancelledError):
            try:
                grade = await self._queue.wait(submission_id)
                self._finished.put_nowait(grade.model_dump_json().encode() + b"\n")
            except ProctorError as error:
                self._finished.put_nowait(answer_to(error).line(submission_id))


def _takes(model: type[Submission] | type[BatchRequest]) -> dict[str, object]:
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _gives(media_type: str) -> dict[int | str, dict[str, object]]:
    grade = {media_type: {"schema": {"$ref": "#/components/schemas/Grade"}}}
    trouble = {"application/json": {"schema": {"$ref": "#/components/schemas/Trouble"}}}
    answers: dict[int | str, dict[str, object]] = {200: {"description": "graded", "content": grade}}
    return answers | {status: {"description": text, "content": trouble} for status, text in TROUBLE.items()}
