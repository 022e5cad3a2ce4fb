"""The routes for those who do not want to hold a connection: submit, ask later, cancel."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from sandbox_service.api import body
from sandbox_service.api.documents import GRADE, TROUBLE, gives, takes
from sandbox_service.api.intake import Intake
from sandbox_service.api.keys import key_of
from sandbox_service.errors import BadRequest, NotFound
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Submission
from sandbox_service.settings import Settings

LONGEST_POLL_SECONDS = 60.0


class Accepted(BaseModel):
    """Where to ask for the answer."""

    id: str


class Cancelled(BaseModel):
    """How many submissions were still to be graded and now will not be."""

    cancelled: int


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`POST`, `GET` and `DELETE /v1/submissions`."""
    router = APIRouter(prefix="/v1/submissions", tags=["asynchronous"])

    @router.post(
        "",
        status_code=202,
        openapi_extra=takes(Submission),
        responses=gives("Accepted", TROUBLE, status=202),
        summary="Take a submission, and answer later",
    )
    async def submit(request: Request) -> Accepted:
        intake = Intake(settings, queue.suite, key_of(request))
        job = await intake.one(await body.read(request, settings.max_body_bytes), keep=True)
        [ticket] = await queue.submit([job])
        ticket.release()
        return Accepted(id=job.id)

    @router.get(
        "/{submission_id:path}",
        responses=gives(GRADE, TROUBLE) | gives("Accepted", {}, status=202),
        summary="The answer, or 202 if there is none yet",
    )
    async def answer(
        submission_id: str, wait: Annotated[float, Query(ge=0, le=LONGEST_POLL_SECONDS)] = 0.0
    ) -> Response:
        ticket = await queue.find(submission_id)
        if ticket is None:
            raise NotFound(f"no submission {submission_id[:256]!r} is known here, or it is known no more")
        try:
            await asyncio.wait({ticket.answer}, timeout=wait)
            if not ticket.answer.done():
                return Response(Accepted(id=submission_id).model_dump_json(), 202, media_type="application/json")
            return Response(ticket.answer.result().body, media_type="application/json")
        finally:
            ticket.release()

    @router.delete("", responses=gives("Cancelled", TROUBLE), summary="Cancel all that have a label")
    async def cancel_labelled(label: Annotated[str, Query(description="name=value")]) -> Cancelled:
        name, equals, value = label.partition("=")
        if not equals:
            raise BadRequest(f"label is {label[:80]!r}; give name=value")
        return Cancelled(cancelled=await queue.cancel(await queue.labelled(name, value)))

    @router.delete("/{submission_id:path}", responses=gives("Cancelled", TROUBLE), summary="Cancel one")
    async def cancel(submission_id: str) -> Cancelled:
        return Cancelled(cancelled=await queue.cancel([submission_id]))

    return router
