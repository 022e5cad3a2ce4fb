"""`GET /health`: the readiness check that open-instruct, NeMo-Skills and open-r1's routers call first."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from sandbox_service.queues.base import JobQueue
from sandbox_service.settings import Settings


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `GET /health`: 200 `{"status": "healthy"}`, or 503 with the reasons of `/readyz`."""
    del settings
    router = APIRouter(tags=["other trainers"])

    @router.get(
        "/health", responses={503: {"description": "nothing can be graded"}}, summary="Readiness, for other trainers"
    )
    async def health(response: Response) -> dict[str, Any]:
        reasons = queue.unready()
        if not reasons:
            return {"status": "healthy"}
        response.status_code = 503
        return {"status": "unhealthy", "reasons": reasons}

    return router
