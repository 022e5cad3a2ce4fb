"""Assembles the FastAPI application: routes, error handlers, authentication and the OpenAPI document."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from prometheus_client import CollectorRegistry
from pydantic.json_schema import models_json_schema

from sandbox_service.api import (
    api_docs,
    compat,
    dashboard,
    error_responses,
    events,
    grading,
    history,
    monitoring,
    submissions,
    suites,
)
from sandbox_service.api.authentication import ApiKeyAuth
from sandbox_service.api.browser_guard import BrowserGuard
from sandbox_service.api.direct_routes import DirectRoutes, endpoints
from sandbox_service.api.large import pool
from sandbox_service.api.openapi import add_constraints
from sandbox_service.api.request_body import ArrivingBytes, LargeBodyError
from sandbox_service.languages import toolchains
from sandbox_service.observe.history import History
from sandbox_service.queues.base import ObservedQueue
from sandbox_service.schema import BatchRequest, Grade, Submission, SuiteBody
from sandbox_service.settings import Settings

OpenQueue = Callable[[], AbstractAsyncContextManager[tuple[ObservedQueue, History]]]


def create(
    settings: Settings,
    open_queue: OpenQueue,
    registry: CollectorRegistry,
    sharing: Callable[[], Mapping[str, object]],
    notes: Sequence[str] = (),
    libraries: Mapping[str, str] | None = None,
    *,
    relays_large: bool = False,
) -> FastAPI:
    """Return the application. Its lifespan opens the queue at start-up and closes it at shutdown.

    Args:
        settings: The service's settings.
        open_queue: Context manager that yields the queue.
        registry: The Prometheus registry that `/metrics` exposes.
        sharing: Returns the part of `/healthz` about shared boxes.
        notes: Warnings that `/readyz` lists.
        libraries: Names and versions for `/healthz`; None where other machines grade.
        relays_large: True to relay requests with large bodies to separate processes (see `large`).
    """
    checks = [ApiKeyAuth(keys, settings.admins)] if (keys := settings.keys) else []
    guard = [Depends(check) for check in checks]  # read first: a bad key file stops the start

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            queue, recent = await stack.enter_async_context(open_queue())
            if relays_large:
                app.state.large = await stack.enter_async_context(pool.running(queue, settings))
            busiest = grading.routes(queue, settings)
            app.state.direct = endpoints(busiest)
            for router in (busiest, *_guarded(queue, recent, settings, registry, notes)):
                app.include_router(router, dependencies=guard)
            app.include_router(
                monitoring.routes(queue, registry, sharing, notes, libraries, toolchains.KnownVersions().now)
            )
            app.include_router(dashboard.routes())
            app.include_router(api_docs.routes())
            yield

    app = FastAPI(
        title="proctor",
        version=version("proctor"),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # else each request looks for its providers
    )
    app.state.arriving = ArrivingBytes(settings.queue_bytes)
    app.state.reads_small_only = relays_large
    app.state.direct = {}
    error_responses.install(app)
    app.add_middleware(DirectRoutes, owner=app, checks=checks)
    app.add_middleware(BrowserGuard, bound=settings.host, hosts=settings.host_names, asks_for_keys=bool(settings.keys))
    app.add_exception_handler(LargeBodyError, pool.answer)
    _describe(app)
    return app


def _guarded(
    queue: ObservedQueue, recent: History, settings: Settings, registry: CollectorRegistry, notes: Sequence[str]
) -> Iterator[APIRouter]:
    """Yield the other routers that require an API key. The first match wins, so the busiest routes come first."""
    for module in (suites, submissions):
        yield module.routes(queue, settings)
    for foreign in compat.ROUTES:
        yield foreign(queue, settings)
    yield monitoring.status_routes(queue, has_workers=bool(settings.redis_url))
    yield history.routes(queue, recent)
    yield events.routes(queue, recent, settings, registry, notes)


def _describe(app: FastAPI) -> None:
    """Add the schemas of bodies to the OpenAPI document: FastAPI does not see them, since bodies are read raw for
    speed.
    """

    def openapi() -> dict[str, Any]:
        document = get_openapi(title=app.title, version=app.version, routes=app.routes)
        read = (Submission, BatchRequest, SuiteBody, suites.MissingSuitesRequest, *compat.MODELS)
        written = (
            Grade,
            error_responses.ErrorBody,
            suites.SuiteStored,
            suites.MissingSuites,
            submissions.SubmissionAccepted,
            submissions.SubmissionsCancelled,
        )
        models = [(model, "validation") for model in read] + [(model, "serialization") for model in written]
        _, schemas = models_json_schema(models, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
        add_constraints(schemas["$defs"])
        document.setdefault("components", {}).setdefault("schemas", {}).update(schemas["$defs"])
        return document

    app.openapi = openapi  # type: ignore[method-assign]
