"""Services in trouble: one that restarts, one whose slots die, one with little room."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psutil

from tests.conftest import Service, need_firejail, running_service
from tests.ports import free_port
from tests.processes import is_slot

SETTLED_SECONDS = 2.5  # a slot of that age has its jails
EXIT_SECONDS = 60.0


class Phoenix:
    """A service that is ended and started again at the same address."""

    def __init__(self) -> None:
        need_firejail()
        self.port: int = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._service = self._started()
        self._service.wait_ready()

    def _started(self) -> Service:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
        command = [sys.executable, "-m", "sandbox_service.cli", "serve", "--port", str(self.port)]
        return Service(subprocess.Popen(command, env=environment), self.port)

    def restart(self, how: signal.Signals, away_seconds: float = 0.5) -> None:
        """End it, wait, and start it again. Return as soon as it is started."""
        self.end(how)
        time.sleep(away_seconds)
        self._service = self._started()

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it with all of its processes."""
        family = self._service.family()
        self._service.process.send_signal(how)
        self._service.process.wait(EXIT_SECONDS)
        psutil.wait_procs(family, EXIT_SECONDS)

    def pending(self) -> int:
        """Return the number of pending submissions."""
        status = self._service.client.get("/v1/status")[1]
        count: int = status["pending"]["submissions"]
        return count


@contextmanager
def phoenix() -> Iterator[Phoenix]:
    """Yield a service and end it at last."""
    service = Phoenix()
    try:
        yield service
    finally:
        with suppress(psutil.NoSuchProcess):
            service.end()


@contextmanager
def meanwhile(action: Callable[[], None]) -> Iterator[None]:
    """Run `action` in a thread; its failure fails the test."""
    failures: list[BaseException] = []

    def act() -> None:
        try:
            action()
        except BaseException as error:  # noqa: BLE001 - shown below
            failures.append(error)

    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    if failures:
        raise failures[0]


@contextmanager
def restarted(how: signal.Signals, away_seconds: float = 0.5) -> Iterator[str]:
    """Yield the address of a service that is ended as soon as it is busy, and started again."""
    with phoenix() as service:

        def restart() -> None:
            until(lambda: service.pending() > 0)
            service.restart(how, away_seconds)

        with meanwhile(restart):
            yield service.url


@contextmanager
def bereaved() -> Iterator[str]:
    """Yield the address of a service whose slots are all killed as soon as they are busy."""
    with running_service() as service, meanwhile(lambda: kill_slots(service)):
        yield service.client.url


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until the condition is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it was never so"
        time.sleep(0.02)


@contextmanager
def narrow() -> Iterator[Service]:
    """Yield a service with room for two submissions."""
    with running_service(queue_submissions=2) as service:
        yield service


@contextmanager
def full() -> Iterator[Service]:
    """Yield a service whose queue is full for some seconds."""
    with running_service(queue_submissions=16) as service:
        nap = {"code": "import time\ntime.sleep(1)", "tests": [{"type": "stdin", "output": ""}]}
        for _ in range(16):
            service.client.post("/v1/submissions", nap | {"labels": {"client": "somebody else"}})
        yield service


def busy(service: Service) -> bool:
    """Return True if a slot is busy."""
    return bool(service.client.get("/v1/status")[1]["busy"])


def kill_slots(service: Service) -> None:
    """Kill all slots at once when they have been busy for a moment."""
    until(lambda: busy(service) and all(age(slot) > SETTLED_SECONDS for slot in slots(service)))
    for slot in slots(service):
        slot.kill()


def slots(service: Service) -> list[psutil.Process]:
    """Return the slot processes."""
    return [child for child in psutil.Process(service.process.pid).children() if is_slot(child)]


def age(process: psutil.Process) -> float:
    return time.time() - process.create_time()
