"""`POST /common_evaluate_batch` and `POST /common_evaluate` as ScaleBox serves them: all tests of an answer at once.

The first has the tests in columns, the second as a list; here both take both. Request and answer: `evaluation`, and
`provided` for the shapes that tests come in. A fault of ours is 503: its clients, functions for verl, make no reward of
an answer that is not 200.
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
    """`POST /common_evaluate_batch`, `POST /common_evaluate`."""
    router = APIRouter(tags=["ScaleBox"])
    desk = Desk(queue, settings, "common_evaluate")

    async def judge(request: Request) -> dict[str, Any]:
        asked = await desk.read(request, Evaluate)
        if not asked.config.provided_data:
            raise BadRequest("config.provided_data: there are no tests; send {test_cases: …}")
        return await evaluate(desk, request, asked)

    for path in ("/common_evaluate_batch", "/common_evaluate"):
        router.post(
            path, openapi_extra=takes(Evaluate), responses=refuses(), summary="Judge an answer, as ScaleBox does"
        )(judge)
    return router
