"""The memory of this machine or container, and the part of it that is left for the programs of submissions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

MIB = 1 << 20
SERVICE_BYTES = 128 * MIB  # of the process that owns the slots
SLOT_BYTES = 96 * MIB  # of a slot's process and its sandboxes; 60 were measured

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUPS = Path("/proc/self/cgroup")
MEMINFO = Path("/proc/meminfo")


def of_machine() -> int:
    """Return the memory of this machine in bytes, or less by the limit of a cgroup of this process."""
    total = next(line for line in MEMINFO.read_text().splitlines() if line.startswith("MemTotal:"))
    return min([int(total.split()[1]) * 1024, *_limits()])


def for_programs(memory_bytes: int, slots: int) -> int:
    """Return the bytes that are left for the programs of submissions, at least one.

    Args:
        memory_bytes: of the machine.
        slots: number of slots.
    """
    return max(1, memory_bytes - SERVICE_BYTES - slots * SLOT_BYTES)


def slots_for(memory_bytes: int, program_bytes: int) -> int:
    """Return how many slots can run such programs at the same time, at least one.

    Args:
        memory_bytes: of the machine.
        program_bytes: the memory limit of a program.
    """
    return max(1, (memory_bytes - SERVICE_BYTES) // (program_bytes + SLOT_BYTES))


def _limits() -> Iterator[int]:
    """Yield the limits of this process's cgroup and of all above it."""
    for line in _read(OWN_CGROUPS).splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _limits_of(CGROUPS, path, "memory.max")
        elif "memory" in controllers.split(","):
            yield from _limits_of(CGROUPS / "memory", path, "memory.limit_in_bytes")


def _limits_of(root: Path, path: str, name: str) -> Iterator[int]:
    own = root / path.lstrip("/")
    for folder in (own, *own.parents):
        if folder.is_relative_to(root) and (text := _read(folder / name).strip()).isdigit():
            yield int(text)


def _read(path: Path) -> str:
    """Return the file's text; empty if it cannot be read, as a cgroup of another namespace."""
    try:
        return path.read_text()
    except OSError:
        return ""
