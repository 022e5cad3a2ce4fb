"""The HTTP application, put together: routes, errors, keys, and a description of itself that is true."""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from prometheus_client import CollectorRegistry
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from sandbox_service.api import grading, operations, trouble
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import BatchRequest, Grade, Submission
from sandbox_service.settings import Settings

OpenQueue = Callable[[], AbstractAsyncContextManager[JobQueue]]


def create(
    settings: Settings, open_queue: OpenQueue, registry: CollectorRegistry, notes: Sequence[str] = ()
) -> FastAPI:
    """The application; its queue is opened when it starts and closed when it ends. `notes` are for `/readyz`."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_queue() as queue:
            app.include_router(_routes(queue, settings))
            app.include_router(operations.routes(queue, registry, notes))
            yield

    app = FastAPI(title="proctor", version=version("proctor"), lifespan=lifespan, redoc_url=None)
    trouble.install(app)
    _describe(app)
    return app


def _routes(queue: JobQueue, settings: Settings) -> APIRouter:
    guarded = APIRouter(dependencies=[Depends(_key_check(settings))] if settings.keys else [])
    guarded.include_router(grading.routes(queue, settings))
    return guarded


def _key_check(settings: Settings) -> Callable[[Request], None]:
    keys = [key.encode() for key in settings.keys]

    def check(request: Request) -> None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ").encode()
        # every key is compared, so that the time taken says nothing about which is near
        if not sum(hmac.compare_digest(given, key) for key in keys):
            raise HTTPException(401, "send Authorization: Bearer KEY with one of the service's keys")

    return check


def _describe(app: FastAPI) -> None:
    """Bodies are read raw, for speed, so the OpenAPI document is told their schemas."""

    def openapi() -> dict[str, Any]:
        document = get_openapi(title=app.title, version=app.version, routes=app.routes)
        models = [(Submission, "validation"), (BatchRequest, "validation"), (Grade, "serialization"),
                  (trouble.Trouble, "serialization")]  # fmt: skip
        _, schemas = models_json_schema(models, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
        document.setdefault("components", {}).setdefault("schemas", {}).update(schemas["$defs"])
        return document

    app.openapi = openapi  # type: ignore[method-assign]
