"""A static file of a page: answered with an ETag, compressed, and not sent again to a client that has it."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re

from fastapi import APIRouter, Request, Response

HEADERS = {
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}
TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


GZIP = re.compile(r"(^|[\s,])gzip\s*(,|$|;\s*q=(?!0(\.0*)?\s*(,|$)))")
"""An Accept-Encoding that admits gzip."""


class StaticFile:
    """A file that honours If-None-Match and Accept-Encoding: gzip.

    Args:
        body: Its bytes.
        kind: The ending of its name; see TYPES.
        policy: The Content-Security-Policy of its page.
    """

    def __init__(self, body: bytes, kind: str, policy: str) -> None:
        self._body = body
        self._packed: bytes | None = None  # made at the first request
        self._headers = HEADERS | {
            "Content-Security-Policy": policy,
            "ETag": f'W/"{hashlib.sha256(body).hexdigest()[:32]}"',
            "Content-Type": TYPES[kind],
        }

    async def answer(self, request: Request) -> Response:
        """Return the file, or 304 if the client has it."""
        if self._headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=self._headers)
        if not GZIP.search(request.headers.get("accept-encoding", "")):
            return Response(self._body, headers=self._headers)
        if self._packed is None:
            self._packed = await asyncio.to_thread(gzip.compress, self._body, mtime=0)
        return Response(self._packed, headers=self._headers | {"Content-Encoding": "gzip"})


def policy(rules: dict[str, str]) -> str:
    """Return the Content-Security-Policy of a page that loads from this service only.

    Args:
        rules: Further directives, or other values of those here.
    """
    own = {
        "default-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "object-src": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in (own | rules).items())


def add(router: APIRouter, path: str, file: StaticFile) -> None:
    """Add the route of a file to a router.

    Args:
        router: The router.
        path: The path of the route.
        file: The file.
    """
    router.add_api_route(path, file.answer, methods=["GET", "HEAD"])
