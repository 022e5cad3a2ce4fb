"""The processes of the simulated fleet, as their parent sees them. None outlives the parent."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from benchmarks.simulation.network import apart
from benchmarks.simulation.orders import Figures

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PR_SET_PDEATHSIG = 1
WORKERS_NICENESS = 10


class Member:
    """A process of the fleet, which answers requests in lines of JSON."""

    def __init__(self, role: str) -> None:
        self.process = subprocess.Popen(
            [*apart(), sys.executable, "-m", "benchmarks", "simulation", "--role", role],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
            preexec_fn=_yield_to_redis if role == "workers" else end_with_us,
        )

    def say(self, what: str, **values: object) -> None:
        """Send a request."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(values | {"do": what}).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> Figures:
        """Return the answer to the oldest request."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("a process of the simulation has ended")
        found: Figures = json.loads(line)
        return found


def _yield_to_redis() -> None:
    """Let the processes with workers run behind Redis: in a fleet they have processors of their own."""
    os.nice(WORKERS_NICENESS)
    end_with_us()


def end_with_us() -> None:
    """Let a process that is being started end with its parent."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill it and wait until it is gone."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
