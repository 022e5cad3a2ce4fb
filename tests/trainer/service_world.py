"""A real reward service for the trainer's tests, with real sandboxes, on a free port.

The trainer's environment may lack the service's dependencies, so the service's own command is started.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.markers import needs
from tests.ports import free_port

PROCTOR = Path(__file__).parents[2] / ".venv" / "bin" / "proctor"
SLOTS = 2
START_SECONDS = 300.0


@needs("jail")
def need_service() -> None:
    """Skip, saying why, where there cannot be a service."""
    _need(PROCTOR.exists(), f"the service is not installed in {PROCTOR.parent.parent.name}: make serve")
    _need(shutil.which("firejail") is not None, "firejail is not installed: apt-get install firejail")
    _need(os.geteuid() == 0, "needs root: boxes get a uid of their own")


@needs("jail")
@contextmanager
def running_service(**settings: object) -> Iterator[str]:
    """The URL of a service with these settings (`SANDBOX_<NAME>`). Skips, saying why, where there cannot be one."""
    need_service()
    url = f"http://127.0.0.1:{(port := free_port())}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
    environment |= {f"SANDBOX_{name.upper()}": str(value) for name, value in ({"slots": SLOTS} | settings).items()}
    process = subprocess.Popen([PROCTOR, "serve", "--port", str(port)], env=environment)
    try:
        _wait_ready(process, url)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        finally:
            process.kill()


@pytest.fixture(scope="session")
def service() -> Iterator[str]:
    """The URL of one service for all tests that do it no harm."""
    with running_service() as url:
        yield url


def _need(is_there: bool, reason: str) -> None:
    if not is_there:
        pytest.skip(reason)


def _wait_ready(process: subprocess.Popen[bytes], url: str) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, "the service ended"
        try:
            with urlopen(f"{url}/readyz", timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"the service is not ready after {START_SECONDS:g} s")
