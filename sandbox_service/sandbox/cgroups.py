"""Limits the memory and the number of processes of a whole jail by a cgroup, where one can be made.

Only jails whose boxes may fork have one: resource limits bound a process, and a box with many processes needs a bound
over all. Other boxes are single processes with resource limits, and are spared the accounting, which costs CPU at every
page. Without a writable cgroup (v1 or v2), programs with `processes` above 1 are bounded by each process's own limits,
by their number, and by wall time.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

REMOVAL_TRIES, REMOVAL_SECONDS = 20, 0.01
ZYGOTE_BYTES = 64 << 20  # the zygote and the isolation tool are in the group too


@dataclass(frozen=True)
class Names:
    """The names of the files in one version of cgroups."""

    memory: str
    tasks: str
    events: str


V1 = Names("memory.limit_in_bytes", "pids.max", "memory.oom_control")
V2 = Names("memory.max", "pids.max", "memory.events")


class Group:
    """A cgroup: one folder (v2), or one for each controller (v1)."""

    def __init__(self, folders: dict[str, Path], names: Names) -> None:
        self._folders = folders
        self._names = names

    def add(self, pid: int) -> None:
        """Put the process `pid` into it; its future children follow. A process that has ended is ignored."""
        for folder in set(self._folders.values()):
            with suppress(ProcessLookupError):
                (folder / "cgroup.procs").write_text(str(pid))

    def limit(self, memory_bytes: int, tasks: int) -> None:
        """Limit the common use of its processes, without the zygote.

        Args:
            memory_bytes: resident memory.
            tasks: processes and threads.
        """
        (self._folders["memory"] / self._names.memory).write_text(str(memory_bytes + ZYGOTE_BYTES))
        (self._folders["pids"] / self._names.tasks).write_text(str(tasks))

    def oom_kills(self) -> int:
        """Return how many of its processes the kernel has killed for lack of memory."""
        events = (self._folders["memory"] / self._names.events).read_text()
        counts = dict(line.split() for line in events.splitlines())
        return int(counts.get("oom_kill", 0))

    def remove(self) -> None:
        """Remove it once its killed processes are gone; if they stay, the next group of that name uses it again."""
        for folder in set(self._folders.values()):
            for _ in range(REMOVAL_TRIES):
                try:
                    folder.rmdir()
                except OSError:
                    time.sleep(REMOVAL_SECONDS)
                else:
                    break


def create(name: str) -> Group | None:
    """Return a cgroup of that name below this process's own; None if none can be made."""
    try:
        return _create_v2(name) or _create_v1(name)
    except OSError:
        return None


def _create_v2(name: str) -> Group | None:
    mount = _mounted("cgroup2", "")
    if mount is None:
        return None
    parent = mount / _own("").lstrip("/")
    if not {"memory", "pids"} <= set((parent / "cgroup.controllers").read_text().split()):
        return None
    (parent / "cgroup.subtree_control").write_text("+memory +pids")
    folder = parent / name
    folder.mkdir(exist_ok=True)
    return Group({"memory": folder, "pids": folder}, V2)


def _create_v1(name: str) -> Group | None:
    folders = {}
    for controller in ("memory", "pids"):
        mount = _mounted("cgroup", controller)
        if mount is None:
            return None
        folders[controller] = mount / _own(controller).lstrip("/") / name
        folders[controller].mkdir(exist_ok=True)
    return Group(folders, V1)


def _mounted(kind: str, controller: str) -> Path | None:
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, what, options, *_ = line.split()
        if what == kind and (not controller or controller in options.split(",")):
            return Path(where)
    return None


def _own(controller: str) -> str:
    """Return this process's path in the tree of that controller ("" for v2)."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == controller or (controller and controller in controllers.split(",")):
            return path
    return "/"


def name_of(uid: int, kind: str) -> str:
    """Return the name for a slot's jails of a kind, by the slot's uid.

    The name is always the same: a group that a killed service left is used again.
    """
    return f"proctor-{uid if uid >= 0 else os.getuid()}-{kind}"
