"""`GET /v1/events`: the service's state once a second, as server-sent events.

One sample a second serves all clients; without clients none is taken. The first event is `history`, the last quarter of
an hour; each later event is `now`, with the history buckets that may have changed. The dashboard and people with curl
use it; it is not part of the API contract. Machines read `/metrics`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from ipaddress import ip_address
from typing import Any

import orjson
from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from prometheus_client import CollectorRegistry

from sandbox_service.api.monitoring import service_status
from sandbox_service.event_loop import wait_event
from sandbox_service.observe.activity import BUCKET_SECONDS, BUCKETS, Bucket
from sandbox_service.observe.history import History
from sandbox_service.queues.base import JobQueue
from sandbox_service.settings import Settings

SAMPLE_SECONDS = 1.0
SLOWEST = 8
FLIPS = ("proctor_rechecks_total", "proctor_verdict_flips_total")


def routes(
    queue: JobQueue, book: History, settings: Settings, registry: CollectorRegistry, notes: Sequence[str]
) -> APIRouter:
    """Return the route `GET /v1/events`, whose status has these notes."""
    router = APIRouter(prefix="/v1", include_in_schema=False)
    sampler = _Sampler(queue, book, settings, registry, notes)

    @router.get("/events")
    async def events() -> StreamingResponse:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(sampler.events(), media_type="text/event-stream", headers=headers)

    return router


class _Sampler:
    """Samples the service's state and streams it to all clients."""

    def __init__(
        self, queue: JobQueue, book: History, settings: Settings, registry: CollectorRegistry, notes: Sequence[str]
    ) -> None:
        self._queue = queue
        self._book = book
        self._registry = registry
        self._taken = -SAMPLE_SECONDS
        self._now = b""
        self._fixed = {
            "process": book.name,
            "notes": list(notes),
            "is_open_to_all": is_open_to_all(settings),
            "is_fleet": bool(settings.redis_url),
            "most": settings.model_dump(include={"max_cpu_seconds", "max_memory_bytes", "max_display_bytes"}),
        }

    async def events(self) -> AsyncIterator[bytes]:
        """Yield events until the service closes."""
        every = [_shown(bucket) for bucket in self._book.buckets(time.time() - BUCKETS * BUCKET_SECONDS)]
        yield _event("history", {"bucket_seconds": BUCKET_SECONDS, "count": BUCKETS, "buckets": every})
        while not self._book.closing.is_set():
            yield self._sample()
            await wait_event(self._book.closing, SAMPLE_SECONDS)

    def _sample(self) -> bytes:
        """Return the current sample, or the last one if it is recent."""
        now = time.monotonic()
        if now - self._taken > SAMPLE_SECONDS / 2:
            self._taken, self._now = now, _event("now", self._take_sample())
        return self._now

    def _take_sample(self) -> dict[str, Any]:
        history, now = self._book, time.time()
        return {
            **self._fixed,
            **service_status(self._queue),
            "time": now,
            "last": history.last,
            "buckets": [_shown(bucket) for bucket in history.buckets(now - 2 * BUCKET_SECONDS)],
            "slowest": [asdict(pace) for pace in history.slowest(SLOWEST)],
            "faults": history.faults(),
            **self._flips(),
        }

    def _flips(self) -> dict[str, float]:
        found = dict.fromkeys(FLIPS, 0.0)
        for family in self._registry.restricted_registry(FLIPS).collect():
            found |= {sample.name: sample.value for sample in family.samples}
        return {"rechecks": found[FLIPS[0]], "flips": found[FLIPS[1]]}


def is_open_to_all(settings: Settings) -> bool:
    """Return True if the service listens beyond this machine and requires no API key."""
    return not settings.keys and not _is_loopback(settings.host)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(bucket: Bucket) -> dict[str, Any]:
    return asdict(bucket) | {"verdicts": dict(bucket.verdicts)}


def _event(name: str, data: dict[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(data))
