"""Parents of processes that must end with them: tests/trainer/launcher.py runs `main`, and a test kills it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from examples import running
from tests.guards import HANG_GUARD_SECONDS
from tests.trainer.launcher import Running
from trainer.engines.process import VllmProcess

CHILD = """import os, pathlib, sys, time
pathlib.Path(sys.argv[1] + ".part").write_text(str(os.getpid()))
os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(600)
"""
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{CHILD}"


def example(told: Path) -> None:
    """Start a process as an example does."""
    with running.guarded([sys.executable, "-c", CHILD, str(told)]):
        time.sleep(HANG_GUARD_SECONDS)


def engine(told: Path) -> None:
    """Start a process as an engine starts vLLM; it ignores SIGTERM."""
    process = VllmProcess([], told.with_name("log"))
    process._command = [sys.executable, "-c", DEAF, str(told)]
    process.start()
    time.sleep(HANG_GUARD_SECONDS)


PARENTS = {each.__name__: each for each in (example, engine)}


def main(arguments: Sequence[str]) -> None:
    """Be a parent.

    Args:
        arguments: Its name, and the file in which the child writes its process id.
    """
    name, told = arguments
    PARENTS[name](Path(told))


def child_after(name: str, told: Path, number: int) -> int:
    """Start a parent, and send it a signal when its child runs.

    Args:
        name: The parent's name.
        told: A file for the child's process id.
        number: The signal.

    Returns:
        The child's process id.
    """
    parent = Running(__name__, [name, str(told)], {})
    wait_until(told.exists)
    child = int(told.read_text())
    assert is_alive(child)
    os.kill(parent.pid, number)
    parent.end(HANG_GUARD_SECONDS)
    return child


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for what must happen."""
    end = time.monotonic() + HANG_GUARD_SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    """Return whether a process is there, and no zombie."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
