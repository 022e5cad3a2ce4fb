"""Serves the busiest routes without FastAPI's routing, dependencies and context managers.

The routes are declared in a router as all others, which documents them and serves what is not served here: other
methods, and paths that differ. A direct route takes the request alone and returns a response. Its exceptions have the
application's handlers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

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
        self._handled: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Implements ASGI."""
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in self._owner.state.direct:
            if self._handled is None:  # only now are all handlers there
                # twice, as in FastAPI: the response of a handler may raise too, as a relayed request does
                handlers = self._owner.exception_handlers
                self._handled = ExceptionMiddleware(ExceptionMiddleware(self._answer, handlers), handlers)
            await self._handled(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        for check in self._checks:
            await check(request)
        response = await self._owner.state.direct[scope["path"]](request)
        await response(scope, receive, send)


def endpoints(router: APIRouter) -> dict[str, Endpoint]:
    """Return the endpoints of a router's POST routes by path. Each must take the request alone."""
    return {
        route.path: route.endpoint
        for route in router.routes
        if isinstance(route, APIRoute) and route.methods == {"POST"}
    }
