"""Reads /proc: descendants, memory, descriptors and namespaces of processes.

Read directly, to add no dependency to what is measured. A process may end at any moment; functions then return 0 or an
empty value.
"""

from __future__ import annotations

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def read(pid: int, name: str) -> str:
    """Return a file of /proc/PID, or "" if the process is gone or access is denied."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def link(pid: int, name: str) -> str:
    """Return the target of a link in /proc/PID, or ""."""
    try:
        return str(Path(f"/proc/{pid}/{name}").readlink())
    except OSError:
        return ""


def descendants(root: int) -> list[int]:
    """Return all living descendants of `root`, without `root`."""
    children: dict[int, list[int]] = {}
    for pid in _all_pids():
        if fields := _stat(pid):
            children.setdefault(int(fields[1]), []).append(pid)
    found, waiting = [], list(children.get(root, []))
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found


def parent(pid: int) -> int:
    """Return the process id of the parent; 0 if the process is gone."""
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def cpu_seconds(pid: int) -> float:
    """Return a process's own CPU seconds and those of the children it waited for."""
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / TICKS if fields else 0.0


def resident_bytes(pid: int) -> int:
    """Return the RSS, which counts a page shared by two processes twice."""
    return _kibibytes(read(pid, "status"), "VmRSS:")


def proportional_bytes(pid: int) -> int:
    """Return the PSS, which divides shared pages; 0 if access is denied."""
    return _kibibytes(read(pid, "smaps_rollup"), "Pss:")


def descriptors(pid: int) -> list[str]:
    """Return the targets of a process's open file descriptors."""
    return [link(pid, f"fd/{fd}") for fd in descriptor_numbers(pid)]


def descriptor_numbers(pid: int) -> list[int]:
    """Return the numbers of a process's open file descriptors."""
    try:
        return [int(file.name) for file in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []


def _all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may itself hold blanks and brackets."""
    return read(pid, "stat").rpartition(")")[2].split()


def _kibibytes(text: str, key: str) -> int:
    return next((int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith(key)), 0)
