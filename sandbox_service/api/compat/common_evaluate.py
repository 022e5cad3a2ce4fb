"""`POST /common_evaluate_batch` and `POST /common_evaluate` of ScaleBox: judge an answer by all of its tests.

In ScaleBox the first takes tests in columns and the second takes a list; here both take both. `evaluation` describes
request and response, `provided_data` the formats of tests. A fault of the service is 503: the clients, reward functions
for verl, make no reward of any other status than 200.
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
    """Return `POST /common_evaluate_batch` and `POST /common_evaluate`."""
    router = APIRouter(tags=["ScaleBox"])
    grading = HeldGrading(queue, settings, "common_evaluate")

    async def judge(request: Request) -> dict[str, Any]:
        payload = await grading.read(request, Evaluate)
        if not payload.config.provided_data:
            raise BadRequestError("config.provided_data: no tests; send {test_cases: …}")
        return await evaluate(grading, request, payload)

    for path in ("/common_evaluate_batch", "/common_evaluate"):
        router.post(
            path,
            openapi_extra=request_schema(Evaluate),
            responses=compat_error_schemas(),
            summary="Judge an answer (ScaleBox)",
        )(judge)
    return router
