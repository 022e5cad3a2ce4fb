"""Serves the busiest routes without FastAPI's routing, dependencies and context managers.

The routes are declared in a router as all others, which documents them and serves what is not served here: other
methods, and paths that differ. A direct route takes the request alone and returns a response. Its exceptions have the
application's handlers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.routing import APIRoute
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

Endpoint = Callable[[Request], Awaitable[Response]]
Check = Callable[[Request], Awaitable[None]]


class DirectRoutes:
    """ASGI middleware that answers requests of its routes and passes on all others.

    Args:
        app: The application behind it.
        owner: The FastAPI application, whose handlers of exceptions are used.
        checks: Are called with each request before its endpoint.
    """

    def __init__(self, app: ASGIApp, owner: FastAPI, checks: Sequence[Check]) -> None:
        self._app = app
        self._owner = owner
        self._checks = checks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Implements ASGI."""
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in self._owner.state.direct:
            await (await self._answer(scope, receive, send))(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> ASGIApp:
        """Return the response of the endpoint; if it raises, that of the exception's handler."""
        request = Request(scope, receive, send)
        try:
            for check in self._checks:
                await check(request)
            response: Response = await self._owner.state.direct[scope["path"]](request)
        except tuple(self._handlers()) as error:
            return self._failed(error)
        return response

    def _failed(self, error: Exception) -> ASGIApp:
        """Return the response that the handler of an exception makes."""

        async def fail(*_: object) -> None:
            raise error

        # twice, as in FastAPI: the response of a handler may raise too, as a relayed request does
        handlers = self._owner.exception_handlers
        return ExceptionMiddleware(ExceptionMiddleware(fail, handlers), handlers)

    def _handlers(self) -> Iterator[type[Exception]]:
        """Yield the exceptions that have handlers."""
        return (kind for kind in self._owner.exception_handlers if isinstance(kind, type))


def endpoints(router: APIRouter) -> dict[str, Endpoint]:
    """Return the endpoints of a router's POST routes by path. Each must take the request alone."""
    return {
        route.path: route.endpoint
        for route in router.routes
        if isinstance(route, APIRoute) and route.methods == {"POST"}
    }
