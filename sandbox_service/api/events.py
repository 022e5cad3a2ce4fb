"""`GET /v1/events`: how the service is doing, each second, for as long as somebody looks (server-sent events).

However many look, the figures are taken once a second; while nobody looks, not at all. The first event is `history`,
the last quarter of an hour; each after it is `now`, with those of the history's buckets that may have changed. For the
page (`dashboard`) and people with curl, not part of the contract; machines have `/metrics`.
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

from sandbox_service.api.operations import state
from sandbox_service.chores import within
from sandbox_service.recent import BUCKET_SECONDS, BUCKETS, Bucket, RecordedQueue
from sandbox_service.settings import Settings

SAMPLE_SECONDS = 1.0
SLOWEST = 8
FLIPS = ("proctor_rechecks_total", "proctor_verdict_flips_total")


def routes(queue: RecordedQueue, settings: Settings, registry: CollectorRegistry, notes: Sequence[str]) -> APIRouter:
    """The one route."""
    router = APIRouter(prefix="/v1", include_in_schema=False)
    sampler = _Sampler(queue, settings, registry, notes)

    @router.get("/events")
    async def events() -> StreamingResponse:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(sampler.events(), media_type="text/event-stream", headers=headers)

    return router


class _Sampler:
    """Takes the figures, and says them to all who look."""

    def __init__(
        self, queue: RecordedQueue, settings: Settings, registry: CollectorRegistry, notes: Sequence[str]
    ) -> None:
        self._queue = queue
        self._registry = registry
        self._taken = -SAMPLE_SECONDS
        self._now = b""
        self._fixed = {
            "process": queue.book.name,
            "notes": list(notes),
            "is_open_to_all": is_open_to_all(settings),
            "is_fleet": bool(settings.redis_url),
            "most": settings.model_dump(include={"max_cpu_seconds", "max_memory_bytes", "max_display_bytes"}),
        }

    async def events(self) -> AsyncIterator[bytes]:
        """Until the service closes."""
        every = [_shown(bucket) for bucket in self._queue.book.buckets(time.time() - BUCKETS * BUCKET_SECONDS)]
        yield _event("history", {"bucket_seconds": BUCKET_SECONDS, "count": BUCKETS, "buckets": every})
        while not self._queue.closing.is_set():
            yield self._sample()
            await within(SAMPLE_SECONDS, self._queue.closing)

    def _sample(self) -> bytes:
        """What is so now; what was so a moment ago if somebody else has just asked."""
        now = time.monotonic()
        if now - self._taken > SAMPLE_SECONDS / 2:
            self._taken, self._now = now, _event("now", self._look())
        return self._now

    def _look(self) -> dict[str, Any]:
        book, now = self._queue.book, time.time()
        return {
            **self._fixed,
            **state(self._queue),
            "time": now,
            "last": book.last,
            "buckets": [_shown(bucket) for bucket in book.buckets(now - 2 * BUCKET_SECONDS)],
            "slowest": [asdict(pace) for pace in book.slowest(SLOWEST)],
            "faults": book.faults(),
            **self._flips(),
        }

    def _flips(self) -> dict[str, float]:
        found = dict.fromkeys(FLIPS, 0.0)
        for family in self._registry.restricted_registry(FLIPS).collect():
            found |= {sample.name: sample.value for sample in family.samples}
        return {"rechecks": found[FLIPS[0]], "flips": found[FLIPS[1]]}


def is_open_to_all(settings: Settings) -> bool:
    """Whether it listens beyond this machine and asks nobody for a key."""
    return not settings.keys and not _is_loopback(settings.host)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(bucket: Bucket) -> dict[str, Any]:
    return asdict(bucket) | {"verdicts": dict(bucket.verdicts)}


def _event(name: str, said: dict[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(said))
