"""The HTTP application, put together: routes, errors, keys, and a description of itself that is true."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from prometheus_client import CollectorRegistry
from pydantic.json_schema import models_json_schema

from sandbox_service.api import compat, dashboard, events, grading, operations, recent, submissions, suites, trouble
from sandbox_service.api.body import Arriving
from sandbox_service.api.documents import sharpen
from sandbox_service.api.keys import Keys
from sandbox_service.recent import RecordedQueue
from sandbox_service.schema import BatchRequest, Grade, Submission, SuiteBody
from sandbox_service.settings import Settings

OpenQueue = Callable[[], AbstractAsyncContextManager[RecordedQueue]]


def create(
    settings: Settings, open_queue: OpenQueue, registry: CollectorRegistry, notes: Sequence[str] = ()
) -> FastAPI:
    """The application; its queue is opened when it starts and closed when it ends. `notes` are for `/readyz`."""
    guard = [Depends(Keys(keys))] if (keys := settings.keys) else []  # before anything is started that would go on

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_queue() as queue:
            for router in _guarded(queue, settings, registry, notes):
                app.include_router(router, dependencies=guard)
            app.include_router(operations.routes(queue, registry, notes))
            app.include_router(dashboard.routes())
            yield

    app = FastAPI(title="proctor", version=version("proctor"), lifespan=lifespan, redoc_url=None)
    app.state.arriving = Arriving(settings.queue_bytes)
    trouble.install(app)
    _describe(app)
    return app


def _guarded(
    queue: RecordedQueue, settings: Settings, registry: CollectorRegistry, notes: Sequence[str]
) -> Iterator[APIRouter]:
    """What wants a key where keys are asked for: first what is asked for most, since the first that fits is taken."""
    for module in (grading, suites, submissions):
        yield module.routes(queue, settings)
    for foreign in compat.ROUTES:
        yield foreign(queue, settings)
    yield operations.about(queue)
    yield recent.routes(queue)
    yield events.routes(queue, settings, registry, notes)


def _describe(app: FastAPI) -> None:
    """Bodies are read raw, for speed, so the OpenAPI document is told their schemas."""

    def openapi() -> dict[str, Any]:
        document = get_openapi(title=app.title, version=app.version, routes=app.routes)
        read = (Submission, BatchRequest, SuiteBody, suites.Asked, *compat.MODELS)
        written = (Grade, trouble.Trouble, suites.Stored, suites.Missing, submissions.Accepted, submissions.Cancelled)
        models = [(model, "validation") for model in read] + [(model, "serialization") for model in written]
        _, schemas = models_json_schema(models, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
        sharpen(schemas["$defs"])
        document.setdefault("components", {}).setdefault("schemas", {}).update(schemas["$defs"])
        return document

    app.openapi = openapi  # type: ignore[method-assign]
