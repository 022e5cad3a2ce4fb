"""What this process is, as the kernel says: what a jail's own account of itself is compared with.

In a container some of what a jail must have is there already, from the container: one system call filter, say. That a
jail has one then proves nothing; it must have more than we.
"""

from __future__ import annotations

from pathlib import Path


def process_status() -> dict[str, str]:
    """/proc/self/status, by name."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def filters() -> int | None:
    """How many system call filters we run under; None where the kernel (before 5.10) does not say."""
    count = process_status().get("Seccomp_filters")
    return None if count is None else int(count)
