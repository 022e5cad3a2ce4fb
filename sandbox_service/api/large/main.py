"""The main program of a process for large requests: serves the routes that take a body on a Unix socket.

It ends when the service ends.

`python -m sandbox_service.api.large.main LISTENER CONNECTION`, both file descriptors.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import uvicorn
from fastapi import Depends, FastAPI

from sandbox_service import allocator, event_loop
from sandbox_service.api import compat, error_responses, grading, submissions, suites
from sandbox_service.api.authentication import ApiKeyAuth
from sandbox_service.api.large.remote_queue import RemoteQueue
from sandbox_service.api.request_body import ArrivingBytes
from sandbox_service.errors import logs
from sandbox_service.settings import Settings
from sandbox_service.slots import protocol


def application(settings: Settings, keys: list[str], connection: socket.socket, server: _Server) -> FastAPI:
    """Return the application with all routes that take a body. The service itself serves the others.

    Args:
        settings: The service's settings.
        keys: The API keys.
        connection: The socket to the service's `QueueServer`.
        server: The server, which ends when the connection is lost.
    """
    guard = [Depends(ApiKeyAuth(keys))] if keys else []

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        _, queue = await loop.create_unix_connection(lambda: RemoteQueue(settings.suite_bytes), sock=connection)
        for module in (grading, suites, submissions):
            app.include_router(module.routes(queue, settings), dependencies=guard)
        for foreign in compat.ROUTES:
            app.include_router(foreign(queue, settings), dependencies=guard)
        ending = loop.create_task(server.end_with(queue))
        event_loop.tune_gc()
        allocator.return_large_blocks()
        yield
        ending.cancel()
        await queue.close()

    app = FastAPI(lifespan=lifespan, openapi_url=None)
    app.state.arriving = ArrivingBytes(settings.queue_bytes)
    app.state.reads_small_only = False
    error_responses.install(app)
    return app


class _Server(uvicorn.Server):
    """A server that ends when the service ends. It ignores signals, which are the service's to handle."""

    async def end_with(self, queue: RemoteQueue) -> None:
        await queue.lost.wait()
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def main() -> None:
    """Serve until the service ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    listener, connection = (socket.socket(fileno=int(each)) for each in sys.argv[1:3])
    configuration = _configuration(connection)
    if configuration is None:
        return
    settings = Settings.model_validate(configuration["settings"])
    logs.to_stderr(settings.log_level)
    config = uvicorn.Config(
        FastAPI(), loop="uvloop", http="httptools", access_log=False, log_config=None, timeout_graceful_shutdown=1
    )
    server = _Server(config)
    config.app = application(settings, configuration["keys"], connection, server)
    server.run(sockets=[listener])


def _configuration(connection: socket.socket) -> dict[str, Any] | None:
    """Return the configuration, the service's first message; None if the service has ended."""
    unpacker = protocol.Unpacker()
    while data := connection.recv(protocol.CHUNK):
        for frame in unpacker.feed(data):
            configuration: dict[str, Any] = orjson.loads(frame.payload)
            return configuration
    return None


if __name__ == "__main__":
    main()
