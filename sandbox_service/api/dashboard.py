"""The page at `/`: for people who want to see how the service is doing, and to try a program.

A few files as they are, with nothing from elsewhere. The page is open to everybody and has no data in it; it asks
`/v1` for them as any client does, with a key where keys are asked for. The headers say what it may do: run the scripts
and styles that lie beside it, ask this service, and nothing else; no text of a submission can become a script.
"""

from __future__ import annotations

import hashlib
from importlib import resources

from fastapi import APIRouter, Request, Response

POLICY = "; ".join(
    (
        "default-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "object-src 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
START = "index.html"


def routes() -> APIRouter:
    """`GET /`, and what it needs below `/pages/`."""
    router = APIRouter(include_in_schema=False)
    for path in resources.files("sandbox_service.api").joinpath("pages").iterdir():
        kind = TYPES.get(path.name.rpartition(".")[2])
        if kind is not None:
            where = "/" if path.name == START else f"/pages/{path.name}"
            router.add_api_route(where, _File(path.read_bytes(), kind).answer, methods=["GET", "HEAD"])
    return router


class _File:
    """One of them, which a browser that has it already is not sent again."""

    def __init__(self, body: bytes, kind: str) -> None:
        self._body = body
        self._headers = HEADERS | {"ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"', "Content-Type": kind}

    async def answer(self, request: Request) -> Response:
        """As it is, or 304."""
        if self._headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=self._headers)
        return Response(self._body, headers=self._headers)
