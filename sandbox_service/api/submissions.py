"""Asynchronous routes: submit, poll and cancel without holding a connection."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.convertors import Convertor, register_url_convertor

from sandbox_service.api import request_body
from sandbox_service.api.authentication import key_name, visible_keys
from sandbox_service.api.intake import Intake
from sandbox_service.api.openapi import ERROR_STATUSES, request_schema, response_schemas
from sandbox_service.errors import BadRequestError, NotFoundError
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Grade, Submission
from sandbox_service.settings import Settings

LONGEST_POLL_SECONDS = 60.0


class _AnyText(Convertor[str]):
    """A part of a path that is any text. Starlette's own `path` is a text without line ends, which ids may have."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class SubmissionAccepted(BaseModel):
    """The id to poll, and an estimate of the wait: it assumes that all that is pending is graded before."""

    id: str
    pending: int = Field(0, description="submissions that are not graded yet, of all clients")
    eta_seconds: float | None = Field(None, description="estimated time until they are graded; null: no slot is ready")


def accepted(submission_id: str, queue: JobQueue) -> SubmissionAccepted:
    """Return the answer for a submission that is pending."""
    depth, slots = queue.depth(), sum(worker.ready for worker in queue.workers())
    eta = round(max(depth.cpu_seconds, 0.0) / slots, 3) if slots else None
    return SubmissionAccepted(id=submission_id, pending=depth.submissions, eta_seconds=eta)


class SubmissionsCancelled(BaseModel):
    """The number of submissions that were cancelled before they were graded."""

    cancelled: int


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `POST`, `GET` and `DELETE /v1/submissions`."""
    register_url_convertor("text", _AnyText())
    router = APIRouter(prefix="/v1/submissions", tags=["asynchronous"])

    @router.post(
        "",
        status_code=202,
        openapi_extra=request_schema(Submission),
        responses=response_schemas(SubmissionAccepted, ERROR_STATUSES, status=202),
        summary="Submit without waiting for the grade",
    )
    async def submit(request: Request) -> SubmissionAccepted:
        intake = Intake(settings, queue.suite, key_name(request))
        job = await intake.one(await request_body.read(request, settings.max_body_bytes), keep=True)
        [waiter] = await queue.submit([job])
        waiter.release()
        return accepted(job.id, queue)

    @router.get(
        "/{submission_id:text}",
        responses=response_schemas(Grade, ERROR_STATUSES) | response_schemas(SubmissionAccepted, {}, status=202),
        summary="Get the grade, or 202 while there is none",
    )
    async def answer(
        request: Request, submission_id: str, wait: Annotated[float, Query(ge=0, le=LONGEST_POLL_SECONDS)] = 0.0
    ) -> Response:
        waiter = await queue.find(submission_id, visible_keys(request))
        if waiter is None:
            raise NotFoundError(f"no submission {submission_id[:256]!r}: the id is unknown, or its answer has expired")
        try:
            await asyncio.wait({waiter.answer}, timeout=wait)
            if not waiter.answer.done():
                return Response(accepted(submission_id, queue).model_dump_json(), 202, media_type="application/json")
            return Response(waiter.answer.result().body, media_type="application/json")
        finally:
            waiter.release()

    @router.delete(
        "",
        responses=response_schemas(SubmissionsCancelled, ERROR_STATUSES),
        summary="Cancel all submissions with a label",
    )
    async def cancel_labelled(
        request: Request, label: Annotated[str, Query(description="name=value")]
    ) -> SubmissionsCancelled:
        name, equals, value = label.partition("=")
        if not equals:
            raise BadRequestError(f"label is {label[:80]!r}; give name=value")
        return SubmissionsCancelled(cancelled=await queue.cancel_labelled(name, value, visible_keys(request)))

    @router.delete(
        "/{submission_id:text}",
        responses=response_schemas(SubmissionsCancelled, ERROR_STATUSES),
        summary="Cancel a submission",
    )
    async def cancel(request: Request, submission_id: str) -> SubmissionsCancelled:
        return SubmissionsCancelled(cancelled=await queue.cancel([submission_id], visible_keys(request)))

    return router
