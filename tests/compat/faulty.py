"""A service in which every submission has the same result: a fault, or no answer in time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any, cast

import pytest
from fastapi import APIRouter, FastAPI, Request

from sandbox_service.api import error_responses
from sandbox_service.api.compat.held_grading import HeldGrading
from sandbox_service.api.request_body import ArrivingBytes
from sandbox_service.errors import UnavailableError
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Grade
from sandbox_service.settings import Settings

LATE = UnavailableError("not graded within 28 s: too much waits before it")
BROKEN = Grade.fault("x", 1, "jail_died", "the jail ended")
BAD_TEST = Grade.fault("x", 1, "bad_test", "the test does not call the candidate")


class NoQueue:
    """The parts of a queue that routes use besides grades. `reasons`: why nothing can be graded."""

    def __init__(self, reasons: Sequence[str] = ()) -> None:
        self._reasons = list(reasons)

    def languages(self) -> list[str]:
        return ["CPython 3.11.2"]

    def unready(self) -> list[str]:
        return self._reasons


def answered(
    monkeypatch: pytest.MonkeyPatch,
    routes: Callable[[JobQueue, Settings], APIRouter],
    path: str,
    body: Mapping[str, Any],
    comes_to: Grade | UnavailableError,
    query: bytes = b"",
) -> tuple[int, Any]:
    """Return status and JSON of a POST whose submissions all have this result."""

    async def many(_: HeldGrading, __: Request, submissions: Sequence[Any], ___: float) -> list[Grade]:
        if isinstance(comes_to, UnavailableError):
            raise comes_to
        return [comes_to] * len(submissions)

    monkeypatch.setattr(HeldGrading, "many", many)
    return asyncio.run(_asked(_app(routes, NoQueue()), "POST", path, body, query))


def got(routes: Callable[[JobQueue, Settings], APIRouter], path: str, queue: NoQueue) -> tuple[int, Any]:
    """Return status and JSON of a GET."""
    return asyncio.run(_asked(_app(routes, queue), "GET", path, None))


def _app(routes: Callable[[JobQueue, Settings], APIRouter], queue: NoQueue) -> FastAPI:
    app = FastAPI()
    app.state.arriving = ArrivingBytes(1 << 30)
    error_responses.install(app)
    app.include_router(routes(cast(JobQueue, queue), Settings()))
    return app


async def _asked(app: FastAPI, method: str, path: str, body: Any, query: bytes = b"") -> tuple[int, Any]:
    """Send a request to the application through ASGI."""
    scope = {"type": "http", "method": method, "path": path, "query_string": query, "headers": []}
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], json.loads(b"".join(message.get("body", b"") for message in sent))
