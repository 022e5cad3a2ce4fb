"""Reads what the kernel reports about this process, to compare a zygote's report with.

A container brings some of what a jail must have: one system call filter, for example. A jail must have more of them
than this process; that it has one proves nothing.
"""

from __future__ import annotations

from pathlib import Path


def process_status() -> dict[str, str]:
    """Return the fields of /proc/self/status by name."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def filters() -> int | None:
    """Return the number of system call filters on this process; None if the kernel (before 5.10) does not report it."""
    count = process_status().get("Seccomp_filters")
    return None if count is None else int(count)
