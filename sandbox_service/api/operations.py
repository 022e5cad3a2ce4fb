"""The routes for those who run the service: is it alive, is it ready, what can it do, how is it doing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from sandbox_service.languages import LANGUAGES
from sandbox_service.queues.base import JobQueue


def routes(queue: JobQueue, registry: CollectorRegistry, notes: Sequence[str]) -> APIRouter:
    """`/healthz`, `/readyz` and `/metrics`: open, for machines that look after machines."""
    router = APIRouter(tags=["operations"])

    @router.get("/healthz", summary="The process lives")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @router.get("/readyz", summary="A jail is proved and work is taken; else 503 and the reasons")
    async def readyz(response: Response) -> dict[str, object]:
        reasons = queue.unready()
        response.status_code = 503 if reasons else 200
        return {"ready": not reasons, "reasons": reasons, "notes": notes}

    @router.get("/metrics", summary="For Prometheus", response_class=Response)
    async def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return router


def about(queue: JobQueue) -> APIRouter:
    """`/v1/languages` and `/v1/status`: for clients and people, who have a key where keys are asked for."""
    router = APIRouter(prefix="/v1", tags=["operations"])

    @router.get("/languages", summary="What can be graded")
    async def languages() -> dict[str, object]:
        versions = queue.languages()
        known = [{"name": each.name, "aliases": list(each.aliases), "versions": versions} for each in LANGUAGES]
        return {"languages": known}

    @router.get("/status", summary="Who grades, and how much waits")
    async def status() -> dict[str, object]:
        return state(queue)

    return router


def state(queue: JobQueue) -> dict[str, object]:
    """What `/v1/status` says."""
    workers, reasons = queue.workers(), queue.unready()
    return {
        "ready": not reasons,
        "reasons": reasons,
        "slots": sum(worker.slots for worker in workers),
        "busy": sum(worker.busy for worker in workers),
        "pending": asdict(queue.depth()),
        "counts": queue.counts(),
        "workers": [asdict(worker) for worker in workers],
    }
