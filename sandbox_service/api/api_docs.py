"""Serves the API documentation at `/docs`: Swagger UI from its package, so that it works without the internet.

Swagger UI reads `/openapi.json`. Its styles are set by scripts, so its policy allows inline styles; it allows no inline
script and no other host.
"""

from __future__ import annotations

from importlib import resources

from fastapi import APIRouter

from sandbox_service.api.static_file import StaticFile, add, policy

POLICY = policy({"style-src": "'self' 'unsafe-inline'", "img-src": "'self' data:"})
PAGE = b"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>proctor: API</title>
<link rel="icon" href="pages/icon.svg">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
START = b'SwaggerUIBundle({url: "openapi.json", dom_id: "#ui", deepLinking: true, tryItOutEnabled: true});\n'
PACKAGED = ("swagger-ui-bundle.js", "swagger-ui.css")


def routes() -> APIRouter:
    """Return the routes of the page at `/docs` and of its files."""
    router = APIRouter(include_in_schema=False)
    add(router, "/docs", StaticFile(PAGE, "html", POLICY))
    add(router, "/docs/start.js", StaticFile(START, "js", POLICY))
    packaged = resources.files("fastapi_swagger").joinpath("resources")
    for name in PACKAGED:
        file = StaticFile(packaged.joinpath(name).read_bytes(), name.rpartition(".")[2], POLICY)
        add(router, f"/docs/{name}", file)
    return router
