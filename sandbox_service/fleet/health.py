"""The two routes of a worker, `/healthz` and `/readyz`, for the probes of an orchestrator. Nothing else is served.

A worker listens only if SANDBOX_HEALTH_PORT is set. The routes need no key, and say no more than /v1/status does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version

from sandbox_service.errors import ConfigurationError


@asynccontextmanager
async def serving(host: str, port: int, reasons: Callable[[], Sequence[str]]) -> AsyncIterator[None]:
    """Serve the routes while the context is open.

    Args:
        host: address to listen on.
        port: port to listen on; 0 to serve nothing.
        reasons: returns why the worker cannot grade; nothing if it can.

    Raises:
        ConfigurationError: the address is not available.
    """
    if not port:
        yield
        return
    from aiohttp import web  # 0.2 s of CPU time, only where a worker listens

    async def healthz(_: web.Request) -> web.Response:
        return web.json_response({"status": "ok", "version": version("proctor")})

    async def readyz(_: web.Request) -> web.Response:
        found = list(reasons())
        return web.json_response({"ready": not found, "reasons": found}, status=503 if found else 200)

    application = web.Application(client_max_size=1024)
    application.add_routes([web.get("/healthz", healthz), web.get("/readyz", readyz)])
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        await runner.cleanup()
        raise ConfigurationError(f"SANDBOX_HEALTH_PORT: cannot listen on {host} port {port}: {error}") from None
    try:
        yield
    finally:
        await runner.cleanup()
