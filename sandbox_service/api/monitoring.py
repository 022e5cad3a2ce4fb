"""Routes for operators: health, readiness, metrics, languages and status."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from sandbox_service.languages import LANGUAGES, toolchains
from sandbox_service.queues.base import JobQueue


def routes(
    queue: JobQueue,
    registry: CollectorRegistry,
    sharing: Callable[[], Mapping[str, object]],
    notes: Sequence[str],
    libraries: Mapping[str, str] | None,
    languages: Callable[[], Mapping[str, str]],
) -> APIRouter:
    """Return `/healthz`, `/readyz` and `/metrics`, which need no API key.

    Args:
        queue: The queue.
        registry: The Prometheus registry.
        sharing: Returns the part of `/healthz` about shared boxes.
        notes: Warnings for `/readyz`.
        libraries: Names and versions for `/healthz`; None where other machines grade.
        languages: Returns versions and flags of the languages beside Python, as far as they are known; never waits.
    """
    router = APIRouter(tags=["operations"])

    @router.head("/healthz", include_in_schema=False)  # load balancers send HEAD
    @router.get(
        "/healthz",
        summary="Liveness, version, languages, and the libraries that submissions may import",
    )
    async def healthz() -> dict[str, object]:
        found: dict[str, object] = {"status": "ok", "version": version("proctor"), "sharing": sharing()}
        return found if libraries is None else found | {"libraries": libraries, "languages": languages()}

    @router.head("/readyz", include_in_schema=False)
    @router.get("/readyz", summary="Readiness: 503 with reasons without a proven jail or a queue that accepts work")
    async def readyz(response: Response) -> dict[str, object]:
        reasons = queue.unready()
        response.status_code = 503 if reasons else 200
        return {"ready": not reasons, "reasons": reasons, "notes": notes}

    @router.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
    async def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return router


def status_routes(queue: JobQueue, *, has_workers: bool = False) -> APIRouter:
    """Return `/v1/languages` and `/v1/status`, which require an API key where keys are configured.

    Args:
        queue: The queue.
        has_workers: True where other machines grade: the languages of this one say nothing.
    """
    router = APIRouter(prefix="/v1", tags=["operations"])

    @router.get("/languages", summary="Languages that can be graded")
    async def languages() -> dict[str, object]:
        pythons, others = queue.languages(), {} if has_workers else await asyncio.to_thread(toolchains.versions)
        known = [
            {
                "name": each.name,
                "aliases": list(each.aliases),
                "versions": [others[each.name]] if each.name in others else pythons,
            }
            for each in LANGUAGES
            if each.toolchain is None or each.name in others
        ]
        return {"languages": known}

    @router.get("/status", summary="Workers, slots and queue length")
    async def status() -> dict[str, object]:
        return service_status(queue)

    return router


def service_status(queue: JobQueue) -> dict[str, object]:
    """Return the body of `/v1/status`."""
    workers, reasons = queue.workers(), queue.unready()
    return {
        "version": version("proctor"),
        "ready": not reasons,
        "reasons": reasons,
        "slots": sum(worker.slots for worker in workers),
        "busy": sum(worker.busy for worker in workers),
        "pending": asdict(queue.depth()),
        "counts": queue.counts(),
        "workers": [asdict(worker) for worker in workers],
    }
