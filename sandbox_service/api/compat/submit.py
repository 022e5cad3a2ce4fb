"""`POST /submit` as SandboxFusion serves it, for those who send the tests along: `config.provided_data`.

Request and answer: `evaluation`, and `provided` for the shapes that tests come in. This service holds no data sets, so
an id without its row is 422. A fault of ours is 503: SandboxFusion's SDK asks five times, then raises (`submit_safe`
makes a rejected answer of that); it does not look at what an answer says of single tests.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from sandbox_service.api.compat.desk import Desk
from sandbox_service.api.compat.evaluation import Evaluate, evaluate
from sandbox_service.api.documents import refuses, takes
from sandbox_service.errors import BadRequest
from sandbox_service.queues.base import JobQueue
from sandbox_service.settings import Settings


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`POST /submit`."""
    router = APIRouter(tags=["SandboxFusion"])
    desk = Desk(queue, settings, "submit")

    @router.post(
        "/submit", openapi_extra=takes(Evaluate), responses=refuses(), summary="Judge an answer, as SandboxFusion does"
    )
    async def submit(request: Request) -> dict[str, Any]:
        asked = await desk.read(request, Evaluate)
        if not asked.config.provided_data:
            name = (asked.dataset or "")[:60]
            raise BadRequest(f"data set {name!r} is not held here: send its row as config.provided_data")
        return await evaluate(desk, request, asked)

    return router
