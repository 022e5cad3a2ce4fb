"""Maps exceptions to HTTP responses, all with the body `{"error": {"type", "message", "retry_after_seconds"}}`."""

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

from sandbox_service.errors import (
    BadRequestError,
    BodyTooLargeError,
    IdReusedError,
    LimitTooHighError,
    NotFoundError,
    OverdueError,
    OverQuotaError,
    ProctorError,
    QueueFullError,
    RetryLaterError,
    TooManyGuessesError,
    UnavailableError,
    UnknownSuiteError,
    UnsupportedCheckerError,
    UnsupportedLanguageError,
)
from sandbox_service.errors.fields import describe, in_words

log = logging.getLogger(__name__)

UNAVAILABLE_RETRY_SECONDS = 2.0
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
CLIENT_CLOSED_REQUEST = 499  # nginx's status; the client is gone and does not see it


class ErrorDetail(BaseModel):
    """An error for programs (`type`) and for people (`message`)."""

    type: str
    message: str
    retry_after_seconds: float | None = None


class ErrorBody(BaseModel):
    """The body of every error response."""

    error: ErrorDetail


@dataclass(frozen=True)
class ErrorResponse:
    """An HTTP status and the error to send with it."""

    status: int
    problem: ErrorDetail

    def response(self, headers: Mapping[str, str] | None = None) -> Response:
        """Return it as an HTTP response, with `Retry-After` if the error has a delay.

        Args:
            headers: Further headers.
        """
        after = self.problem.retry_after_seconds
        more = {"Retry-After": str(max(1, round(after)))} if after is not None else {}
        text = ErrorBody(error=self.problem).model_dump_json()
        return Response(text, self.status, {**(headers or {}), **more}, "application/json")

    def line(self, submission_id: str) -> bytes:
        """Return it as the line of a batch's response for this submission."""
        return json.dumps({"id": submission_id, "error": self.problem.model_dump()}).encode()


_KINDS: list[tuple[type[ProctorError], int, str]] = [
    (BodyTooLargeError, 413, "body_too_large"),
    (IdReusedError, 409, "id_reused"),
    (UnknownSuiteError, 409, "unknown_suite"),
    (NotFoundError, 404, "not_found"),
    (UnsupportedLanguageError, 422, "unsupported_language"),
    (UnsupportedCheckerError, 422, "unsupported_checker"),
    (LimitTooHighError, 422, "limit_too_high"),
    (BadRequestError, 422, "invalid_request"),
    (OverQuotaError, 429, "over_quota"),
    (QueueFullError, 429, "queue_full"),
    (TooManyGuessesError, 429, "too_many_guesses"),
    (OverdueError, 504, "overdue"),
    (UnavailableError, 503, "unavailable"),
]


def error_response(error: ProctorError) -> ErrorResponse:
    """Return the HTTP response for one of the package's own exceptions."""
    status, kind = next((status, kind) for which, status, kind in _KINDS if isinstance(error, which))
    after = error.retry_after_seconds if isinstance(error, RetryLaterError) else None
    if status == 503:
        after = UNAVAILABLE_RETRY_SECONDS
    return ErrorResponse(status, ErrorDetail(type=kind, message=str(error), retry_after_seconds=after))


def install(app: FastAPI) -> None:
    """Register a handler for every exception. An unexpected `Exception` is logged and answered with 500."""

    async def ours(_: Request, error: Exception) -> Response:
        assert isinstance(error, ProctorError)
        return error_response(error).response()

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, ValidationError)
        return ErrorResponse(422, ErrorDetail(type="invalid_request", message=describe(error))).response()

    async def parameters(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        wrong = ({**each, "loc": each["loc"][1:]} for each in error.errors())  # less "query" or "path"
        return ErrorResponse(422, ErrorDetail(type="invalid_request", message=in_words(wrong))).response()

    async def gone(_: Request, error: Exception) -> Response:
        del error
        return Response(status_code=CLIENT_CLOSED_REQUEST)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        kind = {401: "unauthorized", 404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http_error")
        headers, message = dict(error.headers or {}), str(error.detail)
        if error.status_code == 401:
            headers["WWW-Authenticate"] = "Bearer"
        elif error.status_code == 405:
            headers |= _allow(request)
            message = f"{request.method[:20]} is not possible here; use {headers['Allow']}"
        elif error.status_code == 404:  # of a route, and so of the router
            message = f"no route has the path {request.url.path[:80]!r}; /docs lists the routes"
        return ErrorResponse(error.status_code, ErrorDetail(type=kind, message=message)).response(headers)

    async def defect(request: Request, error: Exception) -> Response:
        log.error("internal_error", exc_info=error, extra={"path": request.url.path})
        message = f"internal error ({type(error).__name__}); the service's log has the traceback"
        return ErrorResponse(500, ErrorDetail(type="internal_error", message=message)).response()

    app.add_exception_handler(ProctorError, ours)
    app.add_exception_handler(ValidationError, invalid)
    app.add_exception_handler(RequestValidationError, parameters)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, defect)


def _allow(request: Request) -> dict[str, str]:
    """Return the `Allow` header for all methods of the path. Starlette names the methods of only one of its routes."""
    found = [method for method in METHODS if _is_routed(request, method)]
    return {"Allow": ", ".join(found)}


def _is_routed(request: Request, method: str) -> bool:
    scope = {**request.scope, "method": method}
    return any(route.matches(scope)[0] == Match.FULL for route in request.app.routes)
