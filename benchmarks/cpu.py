"""Measures the CPU time of a contender with all its descendants, including killed ones.

`getrusage(RUSAGE_CHILDREN)` counts only children that the caller waited for: it misses a jail whose processes end with
their namespace, and a server that is still running. A cgroup counts them all. Uses version 1 (the `cpuacct` controller)
or version 2 (`cpu.stat`, present in every group); where neither is writable, `FALLBACK_NOTE` states the limits.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from benchmarks import procs

FALLBACK_NOTE = (
    "note: no writable cgroup (cpuacct or v2), so CPU time is the driver's getrusage(SELF) + getrusage(CHILDREN) and, "
    "in clock ticks of 10 ms, its living descendants. Missed: processes that nobody waited for, such as those that "
    "died with their PID namespace, and daemons that were adopted by init. Jails look cheaper than they are."
)
CLOSE_SECONDS = 5.0
SETTLE_SECONDS = 0.01


@contextmanager
def counted(name: str) -> Iterator[Group | None]:
    """Count the CPU time of this process and of all that it starts, while the context is open.

    Args:
        name: Of the benchmark.

    Yields:
        The cgroup that counts; None without permission for one.
    """
    group = Group.make(name)
    if group is None:
        yield None
        return
    group.enter()
    try:
        yield group
    finally:
        group.close()


class Group:
    """A cgroup, which counts its members and their descendants, alive or dead."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._version_1 = (path / "cpuacct.usage").exists()

    @classmethod
    def make(cls, name: str) -> Group | None:
        """Create a group of this name below the current one, or return None without permission."""
        for parent in _parents():
            path = parent / f"bench-{os.getpid()}-{name}"
            try:
                path.mkdir(exist_ok=True)
                group = cls(path)
                group.seconds()
            except OSError:
                continue
            return group
        return None

    def seconds(self) -> float:
        """Return the CPU seconds of all past and present members."""
        if self._version_1:
            return int((self.path / "cpuacct.usage").read_text()) / 1e9
        lines = (self.path / "cpu.stat").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("usage_usec")) / 1e6

    def enter(self) -> None:
        """Move the calling process into the group; its children follow."""
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def pids(self) -> list[int]:
        """Return the living members."""
        return [int(word) for word in (self.path / "cgroup.procs").read_text().split()]

    def close(self) -> None:
        """Leave the group, kill its members, and remove it."""
        if os.getpid() in self.pids():
            Group(self.path.parent).enter()
        deadline = time.monotonic() + CLOSE_SECONDS
        while self.path.exists() and time.monotonic() < deadline:
            for pid in self.pids():
                _kill(pid)
            try:
                self.path.rmdir()
            except OSError:
                time.sleep(0.05)


class Meter:
    """Measures the CPU seconds of a `with` block, in `seconds`."""

    def __init__(self, group: Group | None) -> None:
        self._group = group
        self.seconds = 0.0

    def __enter__(self) -> Self:
        self._before = self._read()
        return self

    def __exit__(self, *_: object) -> None:
        time.sleep(SETTLE_SECONDS)  # what has just been killed is still being taken apart
        self.seconds = self._read() - self._before

    def _read(self) -> float:
        return self._group.seconds() if self._group else _rusage_seconds()


def _parents() -> list[Path]:
    """The current groups, version 1 first because it counts in nanoseconds; then the roots of the hierarchies."""
    found: list[Path] = []
    own = dict(_own_groups())
    for line in Path("/proc/mounts").read_text().splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup" and "cpuacct" in options.split(","):
            found[:0] = [Path(point + own.get("cpuacct", "/")), Path(point)]
        elif kind == "cgroup2":
            found += [Path(point + own.get("", "/")), Path(point)]
    return found


def _own_groups() -> list[tuple[str, str]]:
    """(controller, path) for each controller; version 2 is the controller with the empty name."""
    pairs: list[tuple[str, str]] = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        pairs += [(controller, path) for controller in controllers.split(",")]
    return pairs


def _rusage_seconds() -> float:
    """CPU seconds without a cgroup; see `FALLBACK_NOTE`."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    living = sum(procs.cpu_seconds(pid) for pid in procs.descendants(os.getpid()))
    return sum(one.ru_utime + one.ru_stime for one in used) + living


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
