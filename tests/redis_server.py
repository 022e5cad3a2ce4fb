"""A real Redis for tests, on a free port, that can be killed, frozen and started again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.markers import needs
from tests.ports import free_port

START_SECONDS = 20.0


class RedisServer:
    """A running `redis-server`; its files are in `folder`."""

    def __init__(self, folder: str, arguments: tuple[str, ...]) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._command = [
            *("redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", folder),
            *("--save", "", "--appendonly", "no", "--loglevel", "warning"),
            *arguments,
        ]
        self._process = self._start()

    @property
    def pid(self) -> int:
        """The process now; another one after a restart."""
        return self._process.pid

    def kill(self) -> None:
        """End it without a chance to save anything."""
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        """Kill it, if it runs, and start it again with the same files on the same port."""
        self.kill()
        self._process = self._start()

    def stop(self) -> None:
        """Freeze it: connections stay open, and nothing is answered."""
        os.kill(self.pid, signal.SIGSTOP)

    def cont(self) -> None:
        """Let a frozen one go on."""
        os.kill(self.pid, signal.SIGCONT)

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                process.wait()
                raise AssertionError(f"redis-server did not start: {self._command}")
            time.sleep(0.01)
        return process

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1.0) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16) in (b"+PONG\r\n", b"-NOAUTH Authenti")  # with a password, too
        except OSError:
            return False


@needs("redis")
@contextmanager
def running_redis(*arguments: str) -> Iterator[RedisServer]:
    """A `redis-server` that keeps nothing on disk, unless the arguments say so; ended and removed at exit."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    with tempfile.TemporaryDirectory(prefix="proctor-redis-") as folder:
        server = RedisServer(folder, arguments)
        try:
            yield server
        finally:
            server.kill()
