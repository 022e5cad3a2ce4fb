"""What the tests share: a real service on a free port, with real firejail, started once."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.http import Client

START_SECONDS = 60.0

# the trainer and its tests have an environment of their own: `make test` runs both
collect_ignore = [] if find_spec("torch") else ["trainer"]

# These take longest and go first: one that came last would keep one processor busy, and the other waiting
LONGEST = (
    "fleet/test_faults",
    "service/test_openapi",
    "jails/test_unprivileged",
    "service/test_corpora",
    "service/test_data",
    "service/test_faults",
    "fleet/test_ends",
    "guest/test_two_boxes",
    "service/test_leaks",
    "validation/test_corpora",
    "trainer/test_learning",
    "trainer/test_configs",
    "trainer/test_killed",
    "trainer/test_policy",
    "trainer/test_away",
    "trainer/test_engines",
)


def pytest_report_header() -> str:
    return "tests/trainer is left out: no torch in this environment" if collect_ignore else ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {Path(__file__).parent / f"{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


class Service:
    """A running `proctor serve`."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.port = port
        self.client = Client(f"http://127.0.0.1:{port}")

    def grade(self, **submission: Any) -> dict[str, Any]:
        """Grade one submission; must be answered 200."""
        status, answer = self.client.post("/v1/grade", submission)
        assert status == 200, answer
        grade: dict[str, Any] = answer
        return grade

    def family(self) -> list[psutil.Process]:
        """The service's own process and all below it."""
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]

    def wait_ready(self, seconds: float = START_SECONDS) -> None:
        """Until `/readyz` says so."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.process.poll() is None, "the service ended"
            try:
                if self.client.get("/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"not ready after {seconds} s: {self.client.get('/readyz')}")


def need_firejail() -> None:
    """Skip, saying why, where no jail can be had."""
    if shutil.which("firejail") is None:
        pytest.skip("firejail is not installed: apt-get install firejail")
    if os.geteuid() != 0:
        pytest.skip("needs root: boxes get a uid of their own")


@contextmanager
def running_service(**settings: object) -> Iterator[Service]:
    """A service with these settings (`SANDBOX_<NAME>`), ended by SIGTERM."""
    need_firejail()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
    environment["SANDBOX_CACHE_SECONDS"] = "0"  # every submission is to be graded, unless a test says otherwise
    environment |= {f"SANDBOX_{name.upper()}": str(value) for name, value in settings.items()}
    command = [sys.executable, "-m", "sandbox_service.cli", "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=environment)
    service = Service(process, port)
    try:
        service.wait_ready()
        yield service
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        finally:
            process.kill()


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """One service for all tests that do it no harm."""
    with running_service() as running:
        yield running


@pytest.fixture(scope="session")
def data() -> Path:
    """Real problems with known verdicts, which are not part of the project."""
    folder = Path(os.environ.get("PROCTOR_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data in {folder}: set PROCTOR_DATA")
    return folder
