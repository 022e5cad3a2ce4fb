"""Serves the dashboard at `/`: the service's state, recent submissions, and a form to try a program.

The dashboard consists of static files without data and is public. Its scripts call `/v1` like any client, with a key
where keys are required. The Content-Security-Policy allows the scripts and styles beside it and requests to this
service, and nothing else; no text of a submission can become a script.
"""

from __future__ import annotations

from importlib import resources

from fastapi import APIRouter

from sandbox_service.api.static_file import TYPES, StaticFile, add, policy

POLICY = policy({"require-trusted-types-for": "'script'", "trusted-types": "'none'"})
START = "index.html"


def routes() -> APIRouter:
    """Return the routes of the page at `/` and of its files below `/pages/`."""
    router = APIRouter(include_in_schema=False)
    for path in resources.files("sandbox_service.api").joinpath("pages").iterdir():
        kind = path.name.rpartition(".")[2]
        if kind in TYPES:
            add(
                router,
                "/" if path.name == START else f"/pages/{path.name}",
                StaticFile(path.read_bytes(), kind, POLICY),
            )
    return router
