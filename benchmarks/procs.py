"""What /proc says about processes: families, memory, descriptors, namespaces.

Read directly, since a benchmark should need nothing beyond what is being measured. A process may end at any moment, so
every question has an answer for one that is gone: zero, or nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def read(pid: int, name: str) -> str:
    """A file of /proc/PID, or "" if the process has gone or we may not look."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def link(pid: int, name: str) -> str:
    """Where a link of /proc/PID points, or ""."""
    try:
        return str(Path(f"/proc/{pid}/{name}").readlink())
    except OSError:
        return ""


def descendants(root: int) -> list[int]:
    """All living children of `root`, their children, and so on; without `root`."""
    children: dict[int, list[int]] = {}
    for pid in _all_pids():
        if fields := _stat(pid):
            children.setdefault(int(fields[1]), []).append(pid)
    found, waiting = [], list(children.get(root, []))
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found


def cpu_seconds(pid: int) -> float:
    """A process's own CPU time and that of its children which it waited for."""
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / TICKS if fields else 0.0


def resident_bytes(pid: int) -> int:
    """RSS: counts a page shared by two processes twice."""
    return _kibibytes(read(pid, "status"), "VmRSS:")


def proportional_bytes(pid: int) -> int:
    """PSS: shared pages are shared out. 0 where the kernel does not let us read it."""
    return _kibibytes(read(pid, "smaps_rollup"), "Pss:")


def descriptors(pid: int) -> list[str]:
    """What a process's open file descriptors point to."""
    try:
        return [link(pid, f"fd/{file.name}") for file in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []


def _all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may itself hold blanks and brackets."""
    return read(pid, "stat").rpartition(")")[2].split()


def _kibibytes(text: str, key: str) -> int:
    return next((int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith(key)), 0)
