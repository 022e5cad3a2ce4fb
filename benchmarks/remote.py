"""The parent's end of a driver: starts it in a cgroup of its own and sends it requests."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks import procs
from benchmarks.contenders.base import UnavailableError
from benchmarks.cpu import Group


@dataclass(frozen=True)
class Memory:
    """Memory of a contender's idle processes."""

    processes: int = 0
    resident_bytes: int = 0
    proportional_bytes: int = 0


class Remote:
    """A contender in its driver process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.label = name
        self.concurrencies: list[int] = []
        self.group = Group.make(name)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.driver", name, str(self.group.path) if self.group else ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=self.group.enter if self.group else None,
        )

    def start(self) -> None:
        """Start the contender. Raises `UnavailableError`."""
        answer = self.ask("start")
        self.label = answer["label"]
        self.concurrencies = answer["concurrencies"]
        self._driver_is_client = answer["driver_is_client"]

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Send a request and return the answer."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "its driver died"}
        if "unavailable" in answer:
            raise UnavailableError(answer["unavailable"])
        if "error" in answer:
            raise RuntimeError(f"{self.name}: {answer['error']}")
        return answer

    def memory(self) -> Memory:
        """Return the memory of all its processes; the driver counts unless it is only a client."""
        pids = self.group.pids() if self.group else [self._process.pid, *procs.descendants(self._process.pid)]
        if self._driver_is_client:
            pids.remove(self._process.pid)
        resident, proportional = (sum(map(one, pids)) for one in (procs.resident_bytes, procs.proportional_bytes))
        return Memory(len(pids), resident, proportional)

    def close(self) -> None:
        """Ask the driver to end, then kill what is left."""
        with contextlib.suppress(RuntimeError, UnavailableError, OSError):
            self.ask("close")
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        with self._process:  # waits, and closes the pipes
            pass
        if self.group:
            self.group.close()
