"""`GET /health`: what open-instruct, NeMo-Skills and open-r1's routers ask before they send anything."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from sandbox_service.queues.base import JobQueue
from sandbox_service.settings import Settings


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`GET /health`: 200 `{"status": "healthy"}`, or 503 and the reasons, as `/readyz` has them."""
    del settings
    router = APIRouter(tags=["other trainers"])

    @router.get(
        "/health", responses={503: {"description": "nothing can be"}}, summary="Whether anything can be graded now"
    )
    async def health(response: Response) -> dict[str, Any]:
        reasons = queue.unready()
        if not reasons:
            return {"status": "healthy"}
        response.status_code = 503
        return {"status": "unhealthy", "reasons": reasons}

    return router
