"""What the tests share: a real service on a free port, with real firejail, started once."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import markers
from tests.http import Client
from tests.ports import free_port

START_SECONDS = 300.0
ISOLATION = os.environ.get("PROCTOR_TEST_SANDBOX", "firejail")
"""The isolation tool that services of the tests use: a value of SANDBOX_ISOLATION."""

# the trainer and its tests have an environment of their own: `make test` runs both
collect_ignore = [] if find_spec("torch") else ["trainer"]

EXAMPLES, ALL_EXAMPLES = 30, 1000
"""Of each property that Hypothesis tries: without and with the tests that are marked `full`."""

# These take longest and go first: one that came last would keep one processor busy, and the other waiting
LONGEST = (
    "fleet/test_faults",
    "service/test_large_bodies",
    "fleet/test_hostile_redis",
    "client/test_real",
    "pages/test_dashboard",
    "service/test_corpora",
    "strengthen/test_command",
    "languages/test_verdicts",
    "service/test_data",
    "test_shell_examples",
    "languages/test_called",
    "service/test_hostile_judges",
    "service/test_native_judges",
    "mathematics/test_pairs",
    "guest/test_two_boxes",
    "service/test_checker_programs",
    "service/test_mixed",
    "service/test_faults",
    "service/test_long",
    "service/test_browser",
    "observe/test_recheck",
    "languages/test_hostile_sources",
    "sandbox/test_unprivileged",
    "service/test_openapi",
    "service/test_bad_input",
    "service/test_idioms",
    "service/test_shared",
    "fleet/test_ends",
    "service/test_keys",
    "compat/test_run_code",
    "packaging/test_wheel",
    "test_wrong_uses",
    "test_cli",
    "validation/test_corpora",
    "trainer/test_learning",
    "trainer/test_configs",
    "trainer/test_killed",
    "trainer/test_policy",
    "trainer/test_away",
    "trainer/test_engines",
)

# These mostly wait: for a fault to be noticed, for a time to pass, for a connection. Files, and folders with a slash
WAITING = (
    "adapters/test_sandbox_fusion_sdk",
    "client/",
    "fleet/",
    "observe/test_recheck",
    "pages/",
    "queues/",
    "service/test_browser",
    "service/test_faults",
    "service/test_hostile_clients",
    "service/test_large_bodies",
    "service/test_long",
    "service/test_mixed",
    "validation/test_model",
)

# These start nothing and still take seconds, most of them for processes that they fork thousands of times
SLOW = (
    "api/test_intake",
    "benchmarks/",
    "client/test_batch_grading",
    "formats/test_modes",
    "guest/test_connection",
    "guest/test_pair_",
    "guest/test_starved",
    "guest/test_two_boxes",
    "guest/test_usual_tests",
    "guest/test_values",
    "judging/test_cost",
    "judging/test_values",
    "packaging/",
    "test_corpus",
    "trainer/test_policy",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--group", choices=["waiting", "computing"], help="only files that mostly wait, or the others")


def pytest_configure(config: pytest.Config) -> None:
    # a shell without job control starts background commands with SIGINT ignored, which all processes here would inherit
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if find_spec("hypothesis"):
        from hypothesis import HealthCheck, settings

        examples = EXAMPLES if "not full" in config.option.markexpr else ALL_EXAMPLES
        # no deadline: how long an example takes depends on what else the machine does
        slow = [HealthCheck.too_slow]
        settings.register_profile("proctor", deadline=None, max_examples=examples, suppress_health_check=slow)
        settings.load_profile("proctor")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    group = config.getoption("--group")
    if group is None or not collection_path.match("test_*.py"):
        return None
    return True if (group == "waiting") != name_of(collection_path).startswith(WAITING) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without a search for garbage, and keep what was collected out of later ones: it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@cache
def name_of(path: Path) -> str:
    """A file as the tables above name it."""
    return path.relative_to(Path(__file__).parent).with_suffix("").as_posix()


def pytest_report_header() -> str:
    return "tests/trainer is left out: no torch in this environment" if collect_ignore else ""


@pytest.hookimpl(tryfirst=True)  # before `-m` selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(name_of(item.path), len(rank)))
    markers.mark(items)
    for item in items:
        if name_of(item.path).startswith(SLOW):
            item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    markers.running = item
    try:
        return (yield)
    finally:
        markers.running = None


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


@markers.needs("jail")
def need_firejail() -> None:
    """Skip, with the reason, if the isolation tool (firejail, unless PROCTOR_TEST_SANDBOX names another) is missing."""
    if shutil.which("bwrap" if ISOLATION == "bubblewrap" else ISOLATION) is None:
        pytest.skip(f"{ISOLATION} is not installed: apt-get install {ISOLATION}")
    if os.geteuid() != 0:
        pytest.skip("needs root: boxes get a uid of their own")


@contextmanager
def running_service(**settings: object) -> Iterator[Service]:
    """A service with these settings (`SANDBOX_<NAME>`), ended by SIGTERM."""
    need_firejail()
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
    environment["SANDBOX_ISOLATION"] = ISOLATION
    environment["SANDBOX_CACHE_SECONDS"] = "0"  # every submission is to be graded, unless a test says otherwise
    environment["SANDBOX_AUDIT_TEST_SHARE"] = "1"
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
