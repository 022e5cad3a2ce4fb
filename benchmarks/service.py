"""A proctor service to measure: one that is running already, or one of our own, started and stopped here."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.contenders.base import Unavailable

READY_SECONDS = 60.0
ANSWER_SECONDS = 600.0


class Service:
    """`url`: one that is running; without it `start` runs `proctor serve` on a free port with `slots` slots.

    Their default is BENCH_SLOTS, else one a processor; two busy processors that share a cache slow each other.
    """

    def __init__(self, url: str | None = None, slots: int | None = None, **settings: object) -> None:
        self._slots = slots or int(os.environ.get("BENCH_SLOTS", os.cpu_count() or 1))
        self._settings = {f"SANDBOX_{name.upper()}": str(value) for name, value in settings.items()}
        self._process: subprocess.Popen[bytes] | None = None
        self._own = url is None
        self.url = url or f"http://127.0.0.1:{free_port()}"

    def start(self) -> None:
        """Start it, unless it is someone else's, and wait until it is ready."""
        if self._own:
            self._process = subprocess.Popen(
                [command(), "serve", "--port", str(urlsplit(self.url).port)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment(slots=self._slots) | self._settings,
            )
        deadline = time.monotonic() + READY_SECONDS
        while not self._ready():
            if self._process and self._process.poll() is not None:
                raise Unavailable(f"proctor serve ended with {self._process.returncode}")
            if time.monotonic() > deadline:
                self.close()
                raise Unavailable(f"{self.url}/readyz did not answer 200 within {READY_SECONDS:.0f} s")
            time.sleep(0.1)

    def close(self) -> None:
        """Stop it, if it is ours."""
        if self._process:
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def kill(self) -> None:
        """End it as a crash would; `start` has it again at the same address."""
        assert self._process
        self._process.kill()
        self._process.wait()

    @property
    def pid(self) -> int:
        """Its process, if it is ours."""
        assert self._process
        return self._process.pid

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """One question, one answer."""
        return next(self.lines(path, body))

    def lines(self, path: str, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The JSON objects of an answer, one a line, as they come. Blank lines only keep the connection alive."""
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
    """Of what we start: every submission is graded, and once."""
    ours = {"cache_seconds": 0, "recheck_share": 0, "log_level": "error"} | settings
    return dict(os.environ) | {f"SANDBOX_{name.upper()}": str(value) for name, value in ours.items()}


def command() -> str:
    """The console script of the environment that we run in."""
    script = Path(sys.executable).with_name("proctor")
    if not script.exists():
        raise Unavailable(f"{script} is not installed")
    return str(script)


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
