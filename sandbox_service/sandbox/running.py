"""A box that runs while its host does something else: one side of an interaction.

The host sees the box's processes in its own /proc, as children of the zygote. From there it reads whether they all
sleep, and kills them; the zygote notices and reports their end as always.
"""

from __future__ import annotations

import os
import pathlib
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import psutil

from sandbox_service.errors import JailDiedError
from sandbox_service.sandbox.base import Outcome

ASLEEP = "S"
NANOSLEEPS = ("35", "230") if os.uname().machine == "x86_64" else ("101", "115")

Task = tuple[int, int]
"""A thread, and how often it has given up its processor."""


class RunningBox:
    """A box that was started and whose end was not waited for.

    Attributes:
        outcome: the facts, once it has ended.
        is_killed: the host killed it.
    """

    def __init__(self, jail: _Jail, zygote: int, seconds: float) -> None:
        """Args:
        jail: where it runs.
        zygote: the process that started it.
        seconds: its end must have been reported by then.
        """
        self.outcome: Outcome | None = None
        self.is_killed = False
        self._jail = jail
        self._zygote = zygote
        self._give_up = time.monotonic() + seconds

    def check_alive(self) -> None:
        """Raise JailDiedError if the end of the box is overdue."""
        if self.outcome is None and time.monotonic() > self._give_up:
            raise JailDiedError("no answer from the zygote about a box that should have ended")

    def fileno(self) -> int:
        """Return the descriptor that is readable when there is news."""
        return self._jail.control_fileno()

    def receive(self) -> bool:
        """Receive the news, and return whether the box has ended. Raises SandboxError."""
        self.outcome = self._jail.receive_end()
        return self.outcome is not None

    def kill(self) -> None:
        """Kill the box, if it still runs."""
        if self.outcome is not None:
            return
        for pid in children(self._zygote):
            with suppress(OSError):
                pidfd = os.pidfd_open(pid)
                try:
                    if pid in children(self._zygote):  # the number is still this box's
                        self.is_killed = True
                        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                finally:
                    os.close(pidfd)

    def end(self, look_seconds: float, is_over: Callable[[], bool]) -> Outcome:
        """Wait for the end of the box, and kill it if it is not needed any more.

        Args:
            look_seconds: how long to wait for news before asking.
            is_over: asked whether the box is no longer needed.

        Returns:
            The outcome. A box that was killed ended as if it had been done.

        Raises:
            SandboxError: the sandbox failed.
        """
        poll = select.poll()
        poll.register(self, select.POLLIN)
        while self.outcome is None:
            if poll.poll(look_seconds * 1000):
                self.receive()
            else:
                self.check_alive()
                if is_over():
                    self.kill()
        return self.outcome._replace(exit_code=0, signal=None) if self.is_killed else self.outcome

    def cpu_clock(self) -> int:
        """Return the kernel's number of the clock of the box's CPU time. Raises JailDiedError if it cannot be found."""
        for pid in children(self._zygote):
            return (~pid << 3) | 2  # see clock_getcpuclockid(3)
        raise JailDiedError("the box that was started cannot be found")

    def has_processes(self) -> bool:
        """Return whether a process of the box still runs."""
        return any(_is_alive(pid) for pid in children(self._zygote))

    def sleeping_tasks(self) -> frozenset[Task] | None:
        """Return all threads of the box if each of them waits for something other than a time; else None."""
        found: set[Task] = set()
        for pid in _with_descendants(children(self._zygote)):
            tasks = _tasks(pid)
            if tasks is None:
                return None
            found |= tasks
        return frozenset(found) or None


class _Jail(Protocol):
    """The part of a jail that a running box needs; see jail.py."""

    def control_fileno(self) -> int: ...
    def receive_end(self) -> Outcome | None: ...


def children(pid: int) -> list[int]:
    """Return the processes that the process `pid` has started and that still exist."""
    try:
        fd = os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return [int(each) for each in os.read(fd, 1 << 16).split()]
        finally:
            os.close(fd)
    except (FileNotFoundError, ProcessLookupError):  # a kernel without that file, or the process has ended
        try:
            return [each.pid for each in psutil.Process(pid).children()]
        except psutil.Error:
            return []


def _with_descendants(pids: list[int]) -> list[int]:
    found = list(pids)
    for pid in found:
        found += children(pid)
    return found


def _is_alive(pid: int) -> bool:
    try:
        with pathlib.Path(f"/proc/{pid}/stat").open() as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def _tasks(pid: int) -> set[Task] | None:
    """Return the threads of a process with their counts of switches; None if one runs, or sleeps for a time."""
    found: set[Task] = set()
    try:
        for task in _names(f"/proc/{pid}/task"):
            with pathlib.Path(f"/proc/{pid}/task/{task}/status").open() as file:
                fields = dict(line.split(":", 1) for line in file if ":" in line)
            if fields["State"].split()[0] != ASLEEP or _sleeps_for_a_time(pid, task):
                return None
            found.add((int(task), int(fields["voluntary_ctxt_switches"])))
    except (OSError, KeyError, ValueError):
        return None
    return found


def _names(folder: str) -> list[str]:
    return [path.name for path in pathlib.Path(folder).iterdir()]


def _sleeps_for_a_time(pid: int, task: str) -> bool:
    """Return whether a thread is in nanosleep; False if the kernel does not say."""
    try:
        with pathlib.Path(f"/proc/{pid}/task/{task}/syscall").open() as file:
            return file.read().split(" ", 1)[0] in NANOSLEEPS
    except OSError:
        return False
