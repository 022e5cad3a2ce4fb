"""A whole fleet on this machine: a Redis, API processes and workers that tests can kill, freeze, cut off and restart.

Each worker has one slot, on a processor of its own as far as there are enough, and a uid of its own.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis

from tests.conftest import need_firejail
from tests.guards import HANG_GUARD_SECONDS
from tests.http import Client
from tests.markers import needs
from tests.ports import free_port
from tests.processes import children_of, is_firejail
from tests.redis_server import RedisServer

GUARD_SECONDS = HANG_GUARD_SECONDS
GONE_SECONDS = 15.0
LOOK_SECONDS = 0.7  # in which every API process has looked at the ledger
FIRST_UID = 62_000
NAME = "proctor"

Processes = list[psutil.Process]

LOG = Path(os.environ.get("FLEET_LOG") or f"{tempfile.gettempdir()}/proctor-fleet-{os.getpid()}.log")
"""What the processes log; of a run that failed, what went wrong is printed."""


def until(so: Callable[[], bool], what: str, seconds: float = GUARD_SECONDS) -> None:
    """Wait until it is so."""
    end = time.monotonic() + seconds
    while not so():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def errors_said() -> str:
    """What the processes of this run logged of what they had not foreseen."""
    lines = LOG.read_text(errors="replace").splitlines() if LOG.exists() else []
    return "\n".join(line for line in lines if '"level": "error"' in line)[-20_000:]


class FleetRedis(RedisServer):
    """A Redis whose port nobody is given while it is away."""

    def __init__(self, folder: str, arguments: Sequence[str]) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._command = [
            *("redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", folder),
            *("--save", "", "--appendonly", "no", "--loglevel", "warning"),
            *arguments,
        ]
        self._process = self._start()

    def client(self) -> Any:
        """For looking into it, and for doing it harm."""
        return redis.Redis.from_url(self.url, socket_timeout=GUARD_SECONDS)

    def end(self) -> None:
        """Kill it, even if it is frozen."""
        self.cont()
        self.kill()


class Member:
    """A process of the fleet, with all below it. Its arguments stay the same when it is started again."""

    def __init__(self, arguments: Sequence[str], settings: dict[str, object], prefix: Sequence[str] = ()) -> None:
        self._command = [*prefix, sys.executable, "-m", "sandbox_service.cli", *arguments]
        self._settings = {f"SANDBOX_{name.upper()}": str(value) for name, value in settings.items()}
        self._known: Processes = []
        self._frozen: Processes = []
        self.code = ""  # a folder in which Python finds another version of the code; empty: this one
        self.process: subprocess.Popen[bytes] = None  # type: ignore[assignment]

    def start(self, log: Path | None = None) -> None:
        """Start it, for the first time or again."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
        if self.code:
            environment |= {"PYTHONPATH": self.code, "PYTHONSAFEPATH": "1"}  # the working folder has this version
        with (log or LOG).open("ab") as stderr:
            self.process = subprocess.Popen(
                self._command, env=environment | self._settings, stderr=stderr, preexec_fn=self._prepare
            )

    def _prepare(self) -> None:
        pass

    @property
    def pid(self) -> int:
        """Of the process that was started last."""
        return self.process.pid

    def family(self) -> Processes:
        """It and all below it."""
        with suppress(psutil.NoSuchProcess):
            own = psutil.Process(self.pid)
            found = [own, *own.children(recursive=True)]
            self._known += [each for each in found if each not in self._known]
            return found
        return []

    def kill(self) -> None:
        """`kill -9`. What is below it is left to its own ways."""
        self.family()
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        """Stop it and all below it, what is born meanwhile included."""
        while new := [each for each in self.family() if each not in self._frozen]:
            for each in new:
                self._frozen.append(each)
                with suppress(psutil.NoSuchProcess):
                    each.suspend()

    def thaw(self) -> None:
        """Let it go on."""
        for each in reversed(self._frozen):
            with suppress(psutil.NoSuchProcess):
                each.resume()
        self._frozen.clear()

    def terminate(self) -> int:
        """`kill`, as one asks politely; the exit status."""
        self.family()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(GUARD_SECONDS)

    def end(self) -> list[str]:
        """Have it end, one way or another; what of it still lives then."""
        self.thaw()
        self.family()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(GUARD_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
        return left_of(self._known)


def left_of(family: Processes) -> list[str]:
    """What of a family still lives when it has had time to go."""
    end = time.monotonic() + GONE_SECONDS
    while (alive := [each for each in family if is_alive(each)]) and time.monotonic() < end:
        time.sleep(0.1)
    return [" ".join(each.cmdline()[:3]) for each in alive]


def is_alive(process: psutil.Process) -> bool:
    """Whether it does anything yet."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Api(Member):
    """`proctor serve`."""

    def __init__(self, redis_url: str, **settings: object) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = Client(self.url)
        ours = {"redis_url": redis_url, "cache_seconds": 0, "recheck_share": 0}
        super().__init__(["serve", "--port", str(self.port)], ours | settings)

    def is_ready(self) -> bool:
        """Whether it answers, and knows of a worker with a jail."""
        try:
            return self.client.get("/readyz")[0] == 200
        except OSError:
            return False

    def answers(self) -> bool:
        """Whether it answers: one that was started again may still be starting."""
        try:
            return self.client.get("/healthz")[0] == 200
        except OSError:
            return False

    def status(self) -> dict[str, Any]:
        """What `/v1/status` says."""
        code, answer = self.client.get("/v1/status")
        assert code == 200, answer
        found: dict[str, Any] = answer
        return found


class FleetWorker(Member):
    """`proctor worker`, with one slot."""

    def __init__(self, index: int, redis_url: str, prefix: Sequence[str] = ()) -> None:
        processors = sorted(os.sched_getaffinity(0))
        self.cpu = processors[index % len(processors)]
        ours: dict[str, object] = {"redis_url": redis_url, "slots": 1, "first_uid": FIRST_UID + 8 * index}
        super().__init__(["worker"], ours, prefix)

    def _prepare(self) -> None:
        os.sched_setaffinity(0, {self.cpu})

    def jails_at_work(self) -> Processes:
        """Firejails that have a box below them, of which a spare has none. Some may end while they are looked at."""
        return [each for each in self.family() if _has_box(each)]


def _has_box(process: psutil.Process) -> bool:
    """Return whether it is a firejail with a box below it; false if it has ended."""
    return is_firejail(process) and len(children_of(process, recursive=True)) > 2


class Fleet:
    """All of it."""

    def __init__(self, redis_server: FleetRedis, apis: int, workers: int) -> None:
        self.redis = redis_server
        self.apis = [Api(redis_server.url) for _ in range(apis)]
        self.workers = [FleetWorker(index, redis_server.url) for index in range(workers)]

    def start(self) -> None:
        """Start all, and wait until all are there."""
        for each in (*self.apis, *self.workers):
            each.start()
        self.wait_ready()

    def wait_ready(self) -> None:
        """Until every API process knows of every worker, and every worker has a slot that grades."""

        def complete(api: Api) -> bool:
            if not api.is_ready():
                return False
            ready = [worker for worker in api.status()["workers"] if worker["ready"]]
            return len(ready) >= len(self.workers)

        until(lambda: all(complete(api) for api in self.apis), "the whole fleet is ready")

    def urls(self) -> list[str]:
        """Of the API processes."""
        return [api.url for api in self.apis]

    def counts(self) -> dict[str, int]:
        """What the ledger counts, and what all API processes do together."""
        time.sleep(LOOK_SECONDS)
        found: dict[str, int] = {}
        until(lambda: all(api.answers() for api in self.apis), "every API process answers")
        for api in self.apis:
            counts: dict[str, int] = api.status()["counts"]
            found |= counts | {"watchdog": found.get("watchdog", 0) + counts.get("watchdog", 0)}
        return found

    def holder_of(self, submission_id: str) -> FleetWorker | None:
        """The worker that has begun this submission, if it lives."""
        books = self.redis.client()
        for name in books.smembers(f"{NAME}:workers"):
            if books.sismember(f"{NAME}:started:{name.decode()}", submission_id):
                pid = int(name.decode().rsplit(".", 2)[1])
                return next((each for each in self.workers if each.pid == pid and each.process.poll() is None), None)
        return None

    def end(self) -> list[str]:
        """End all; what still lives."""
        for worker in self.workers:
            worker.thaw()
            worker.family()
            worker.process.send_signal(signal.SIGTERM)
        return [left for each in (*self.workers, *self.apis) for left in each.end()]


AOF = ("--appendonly", "yes", "--appendfsync", "everysec")


@contextmanager
def running_fleet(*redis_arguments: str, apis: int = 1, workers: int = 2, folder: str | None = None) -> Iterator[Fleet]:
    """A fleet that is ready. When it has ended, nothing of it is left, whatever was done to it."""
    with running_fleet_redis(*redis_arguments, folder=folder) as server:
        fleet = Fleet(server, apis, workers)
        with ending(fleet):
            fleet.start()
            yield fleet


@needs("jail", "redis")
@contextmanager
def running_fleet_redis(*arguments: str, folder: str | None = None) -> Iterator[FleetRedis]:
    """A Redis for a fleet; ended and its files removed at exit."""
    need_firejail()
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    with ExitStack() as stack:
        own = folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-fleet-"))
        server = FleetRedis(own, arguments)
        stack.callback(server.end)
        yield server


@contextmanager
def ending(fleet: Fleet) -> Iterator[None]:
    """End the fleet, and see that it is gone."""
    try:
        yield
    except BaseException:
        fleet.redis.cont()
        fleet.end()
        raise
    assert fleet.end() == []
