"""Every way in which a request can fail, as one JSON shape: `{"error": {"type", "message", "retry_after_seconds"}}`."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from sandbox_service.api.intake import describe
from sandbox_service.errors import (
    BadRequest,
    BodyTooLarge,
    ComeBackLater,
    IdReused,
    LimitTooHigh,
    NotFound,
    Overdue,
    ProctorError,
    QueueFull,
    TooManyGuesses,
    Unavailable,
    UnknownSuite,
    UnsupportedChecker,
    UnsupportedLanguage,
)

log = logging.getLogger(__name__)

UNAVAILABLE_RETRY_SECONDS = 2.0
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
CLIENT_CLOSED_REQUEST = 499  # nobody reads it


class Problem(BaseModel):
    """What is wrong, for programs (`type`) and for people (`message`)."""

    type: str
    message: str
    retry_after_seconds: float | None = None


class Trouble(BaseModel):
    """The body of every answer that is not a grade."""

    error: Problem


@dataclass(frozen=True)
class Answer:
    """An error as HTTP."""

    status: int
    problem: Problem

    def response(self, headers: Mapping[str, str] | None = None) -> Response:
        """As an HTTP response."""
        after = self.problem.retry_after_seconds
        more = {"Retry-After": str(max(1, round(after)))} if after is not None else {}
        text = Trouble(error=self.problem).model_dump_json()
        return Response(text, self.status, {**(headers or {}), **more}, "application/json")

    def line(self, submission_id: str) -> bytes:
        """As a line of a batch's answer."""
        return json.dumps({"id": submission_id, "error": self.problem.model_dump()}).encode()


_KINDS: list[tuple[type[ProctorError], int, str]] = [
    (BodyTooLarge, 413, "body_too_large"),
    (IdReused, 409, "id_reused"),
    (UnknownSuite, 409, "unknown_suite"),
    (NotFound, 404, "not_found"),
    (UnsupportedLanguage, 422, "unsupported_language"),
    (UnsupportedChecker, 422, "unsupported_checker"),
    (LimitTooHigh, 422, "limit_too_high"),
    (BadRequest, 422, "invalid_request"),
    (QueueFull, 429, "queue_full"),
    (TooManyGuesses, 429, "too_many_guesses"),
    (Overdue, 504, "overdue"),
    (Unavailable, 503, "unavailable"),
]


def answer_to(error: ProctorError) -> Answer:
    """The HTTP answer to one of our own exceptions."""
    status, kind = next((status, kind) for which, status, kind in _KINDS if isinstance(error, which))
    after = error.retry_after_seconds if isinstance(error, ComeBackLater) else None
    if status == 503:
        after = UNAVAILABLE_RETRY_SECONDS
    return Answer(status, Problem(type=kind, message=str(error), retry_after_seconds=after))


def install(app: FastAPI) -> None:
    """Answer every exception in this shape. `Exception` is the last resort: logged, and 500."""

    async def ours(_: Request, error: Exception) -> Response:
        assert isinstance(error, ProctorError)
        return answer_to(error).response()

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, ValidationError)
        return Answer(422, Problem(type="invalid_request", message=describe(error))).response()

    async def parameters(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        wrong = (f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors())
        return Answer(422, Problem(type="invalid_request", message="; ".join(wrong))).response()

    async def gone(_: Request, error: Exception) -> Response:
        del error
        return Response(status_code=CLIENT_CLOSED_REQUEST)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        kind = {401: "unauthorized", 404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http_error")
        headers = dict(error.headers or {})
        if error.status_code == 401:
            headers["WWW-Authenticate"] = "Bearer"
        elif error.status_code == 405:
            headers |= _allow(request)
        return Answer(error.status_code, Problem(type=kind, message=str(error.detail))).response(headers)

    async def defect(request: Request, error: Exception) -> Response:
        log.error("internal_error", exc_info=error, extra={"path": request.url.path})
        message = f"a defect of the service ({type(error).__name__}); it is in the log"
        return Answer(500, Problem(type="internal_error", message=message)).response()

    app.add_exception_handler(ProctorError, ours)
    app.add_exception_handler(ValidationError, invalid)
    app.add_exception_handler(RequestValidationError, parameters)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, defect)


def _allow(request: Request) -> dict[str, str]:
    """All methods of a path: it may have several routes, of which Starlette names one's."""
    found = [method for method in METHODS if _is_routed(request, method)]
    return {"Allow": ", ".join(found)}


def _is_routed(request: Request, method: str) -> bool:
    scope = {**request.scope, "method": method}
    return any(route.matches(scope)[0] == Match.FULL for route in request.app.routes)
