"""A proctor service to measure: a running one, or one that is started and stopped here."""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.contenders.base import UnavailableError
from benchmarks.cpu import Group, counted

READY_SECONDS = 60.0
ANSWER_SECONDS = 600.0

PORTS = (10_000, 32_000)


@contextmanager
def counted_service(name: str, **settings: object) -> Iterator[tuple[Service, Group]]:
    """Start a service whose CPU time is counted, and stop it when the context is closed.

    Args:
        name: Of the benchmark.
        settings: Of the service.

    Yields:
        The service, and the cgroup with it and this process.

    Raises:
        UnavailableError: No cgroup can be made, or the service does not start.
    """
    with counted(name) as group:
        if group is None:
            raise UnavailableError("no cgroup can be made, so the CPU time of boxes cannot be counted")
        service = Service(None, None, **settings)
        service.start()
        try:
            yield service, group
        finally:
            service.close()


class Service:
    """A service. `url` is that of a running one; without it, `start` runs `proctor serve` with `slots` slots on a free
    port.

    The default number of slots is BENCH_SLOTS, else one per processor; busy processors that share a cache slow each
    other.
    """

    def __init__(self, url: str | None = None, slots: int | None = None, **settings: object) -> None:
        self._slots = slots or int(os.environ.get("BENCH_SLOTS", os.cpu_count() or 1))
        self._settings = {f"SANDBOX_{name.upper()}": str(value) for name, value in settings.items()}
        self._process: subprocess.Popen[bytes] | None = None
        self._own = url is None
        self.url = url or f"http://127.0.0.1:{free_port()}"

    def start(self) -> None:
        """Start the service, unless it is a running one, and wait until it is ready."""
        if self._own:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment(slots=self._slots, port=urlsplit(self.url).port) | self._settings,
            )
        deadline = time.monotonic() + READY_SECONDS
        while not self._ready():
            if self._process and self._process.poll() is not None:
                raise UnavailableError(f"proctor serve ended with {self._process.returncode}")
            if time.monotonic() > deadline:
                self.close()
                raise UnavailableError(f"{self.url}/readyz did not answer 200 within {READY_SECONDS:.0f} s")
            time.sleep(0.1)

    def _command(self) -> list[str]:
        return [command(), "serve"]

    def close(self) -> None:
        """Stop the service if it was started here."""
        if self._process:
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def kill(self) -> None:
        """Kill the service as in a crash; `start` starts it again at the same address."""
        assert self._process
        self._process.kill()
        self._process.wait()

    @property
    def pid(self) -> int:
        """Process id of a service that was started here."""
        assert self._process
        return self._process.pid

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the answer."""
        return next(self.lines(path, body))

    def lines(self, path: str, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the JSON objects of a streamed answer, one a line. Blank lines keep the connection alive and are
        skipped.

        Raises:
            RuntimeError: The service answered with an error.
        """
        connection = self._connection()
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status != 200:
                raise RuntimeError(f"{path}: {response.status} {response.read(2000)!r}")
            while line := response.readline():
                if line.strip():
                    yield json.loads(line)
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        return http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=ANSWER_SECONDS)

    def _ready(self) -> bool:
        connection = self._connection()
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


def environment(**settings: object) -> dict[str, str]:
    """Return the environment for started processes, in which every submission is graded, and once."""
    ours = {"cache_seconds": 0, "recheck_share": 0, "log_level": "error"} | settings
    return dict(os.environ) | {f"SANDBOX_{name.upper()}": str(value) for name, value in ours.items()}


def command() -> str:
    """Return the console script of the current environment."""
    script = Path(sys.executable).with_name("proctor")
    if not script.exists():
        raise UnavailableError(f"{script} is not installed")
    return str(script)


def free_port() -> int:
    """Return a port on which no process listens, below those that the kernel gives to outgoing connections."""
    while True:
        port = random.randrange(*PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
