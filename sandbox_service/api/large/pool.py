"""Starts, chooses and ends the processes for large requests."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import orjson
from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from sandbox_service.api.large import wire
from sandbox_service.api.large.queue_server import QueueServer
from sandbox_service.api.large.relay import RelayedResponse
from sandbox_service.queues.base import ObservedQueue
from sandbox_service.settings import Settings

log = logging.getLogger(__name__)

MIDDLE_BYTES = 2 << 20  # larger requests go to other processes, so that smaller ones do not wait for them
IDLE_SECONDS = 60.0
KILL_AFTER_SECONDS = 5.0


class LargeProcessPool:
    """A fixed number of processes, each started on demand.

    The first takes requests of up to 2 MiB; the others take larger requests and those of unknown size.
    """

    def __init__(self, queue: ObservedQueue, settings: Settings) -> None:
        self._processes = [_LargeProcess(queue, settings) for _ in range(settings.large_processes)]
        self._sweeping = asyncio.get_running_loop().create_task(self._sweep())

    async def answer(self, request: Request) -> Response:
        """Return a response that relays the request, which raised `LargeBodyError`, to a process."""
        declared = request.headers.get("content-length", "")
        is_packed = request.headers.get("content-encoding", "identity").lower() != "identity"
        size = int(declared) if declared.isdigit() and not is_packed else None
        process = self._choose(size)
        await process.start()
        return _CountedResponse(request, process)

    def _choose(self, size: int | None) -> _LargeProcess:
        if size is not None and size <= MIDDLE_BYTES:
            return self._processes[0]
        return min(self._processes[1:] or self._processes, key=lambda each: (each.requests, not each.is_running))

    async def close(self) -> None:
        """End all processes."""
        self._sweeping.cancel()
        await asyncio.gather(*(each.end() for each in self._processes))

    async def _sweep(self) -> None:
        """End processes that have been idle for IDLE_SECONDS."""
        while True:
            await asyncio.sleep(IDLE_SECONDS / 4)
            for each in self._processes:
                if each.has_been_idle(IDLE_SECONDS):
                    await each.end()


async def answer(request: Request, error: Exception) -> Response:
    """Handle `LargeBodyError`: relay the request to a process."""
    del error
    processes: LargeProcessPool = request.app.state.large
    return await processes.answer(request)


@asynccontextmanager
async def running(queue: ObservedQueue, settings: Settings) -> AsyncIterator[LargeProcessPool]:
    """Yield a pool of processes, none of them started, and end them at the end."""
    processes = LargeProcessPool(queue, settings)
    try:
        yield processes
    finally:
        await processes.close()


class _LargeProcess:
    """A process that is started on demand, again if it has ended."""

    def __init__(self, queue: ObservedQueue, settings: Settings) -> None:
        self.requests = 0
        self.path = ""
        self._queue = queue
        self._settings = settings
        self._used = 0.0
        self._end: QueueServer | None = None
        self._transport: asyncio.Transport | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._address_fd = -1
        self._lock = asyncio.Lock()

    @property
    def is_running(self) -> bool:
        """True while it serves."""
        return self._end is not None and not self._end.has_ended.is_set()

    def has_been_idle(self, seconds: float) -> bool:
        """Return True if it has had no request and no open submission for so many seconds."""
        is_idle = self._end is not None and self._end.is_idle and not self.requests
        return is_idle and asyncio.get_running_loop().time() - self._used > seconds

    def begin(self) -> None:
        """Count a request that is relayed to it."""
        self.requests += 1

    def done(self) -> None:
        """Count a request as answered."""
        self.requests -= 1
        self._used = asyncio.get_running_loop().time()

    async def start(self) -> None:
        """Start the process unless it runs. Requests may be sent at once; they wait in the socket until it listens."""
        async with self._lock:
            if self.is_running:
                return
            await self._reap()
            self._used = asyncio.get_running_loop().time()
            listener, self._address_fd = _listen()
            self.path = f"/proc/self/fd/{self._address_fd}"
            ours, theirs = socket.socketpair()
            with listener, theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", __package__ + ".main", str(listener.fileno()), str(theirs.fileno())],
                    pass_fds=(listener.fileno(), theirs.fileno()),
                    stdin=subprocess.DEVNULL,
                    env=os.environ | {"PYTHONSAFEPATH": "1"},
                )
            pid = self._process.pid
            self._transport, self._end = await asyncio.get_running_loop().create_unix_connection(
                lambda: QueueServer(self._queue, self._settings.bounds, pid), sock=ours
            )
            keys = sorted(self._settings.keys)
            settings = self._settings.model_dump() | {"api_keys": "", "api_keys_file": "", "redis_password_file": ""}
            configuration = orjson.dumps({"settings": settings | {"redis_url": ""}, "keys": keys})
            self._end.send(wire.CONFIGURATION, 0, configuration)

    async def end(self) -> None:
        """End the process. It ends by itself when its connection is closed."""
        async with self._lock:
            await self._reap()

    async def _reap(self) -> None:
        if self._transport is not None:
            self._transport.close()
        if self._address_fd >= 0:
            os.close(self._address_fd)
        self._transport, self._end, self._address_fd = None, None, -1
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(process.wait, KILL_AFTER_SECONDS)
        if process.poll() is None:
            process.kill()
            await asyncio.to_thread(process.wait)
        if process.returncode:
            log.error("large_process_ended", extra={"reason": f"status {process.returncode}"})


class _CountedResponse(Response):
    """A relayed response that is counted as a request of its process while it lasts."""

    def __init__(self, request: Request, process: _LargeProcess) -> None:
        super().__init__()
        self._relayed = RelayedResponse(request, process.path)
        self._process = process

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Implements ASGI."""
        self._process.begin()
        try:
            await self._relayed(scope, receive, send)
        finally:
            self._process.done()


def _listen() -> tuple[socket.socket, int]:
    """Return a Unix socket without a name, and a descriptor that reaches it through this process's /proc only."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with tempfile.TemporaryDirectory(prefix="proctor-") as folder:
        path = Path(folder) / "large"
        listener.bind(str(path))
        listener.listen(1024)
        address_fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    return listener, address_fd
