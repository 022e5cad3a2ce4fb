"""`POST /submit` of SandboxFusion, for clients that send the tests in `config.provided_data`.

`evaluation` describes request and response, `provided_data` the formats of tests. This service holds no data sets, so
an id without its row is 422. A fault of the service is 503: SandboxFusion's SDK retries five times, then raises
(`submit_safe` turns this into a rejected answer); it does not read the results of single tests.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from sandbox_service.api.compat.evaluation import Evaluate, evaluate
from sandbox_service.api.compat.held_grading import HeldGrading
from sandbox_service.api.openapi import compat_error_schemas, request_schema
from sandbox_service.errors import BadRequestError
from sandbox_service.queues.base import JobQueue
from sandbox_service.settings import Settings


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `POST /submit`."""
    router = APIRouter(tags=["SandboxFusion"])
    grading = HeldGrading(queue, settings, "submit")

    @router.post(
        "/submit",
        openapi_extra=request_schema(Evaluate),
        responses=compat_error_schemas(),
        summary="Judge an answer (SandboxFusion)",
    )
    async def submit(request: Request) -> dict[str, Any]:
        payload = await grading.read(request, Evaluate)
        if not payload.config.provided_data:
            name = (payload.dataset or "")[:60]
            raise BadRequestError(
                f"data set {name!r} is unknown: this service holds no data sets; send the row as config.provided_data"
            )
        return await evaluate(grading, request, payload)

    return router
