"""The launcher as a zygote: the room that it builds, the system calls of its boxes, and the programs that prove it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from sandbox_service.errors import SandboxError
from sandbox_service.sandbox import files, seccomp
from sandbox_service.sandbox.base import Launch, Place, Probes
from sandbox_service.sandbox.executable import Executable
from sandbox_service.sandbox.launch_wire import ENVIRONMENT

GUEST = Path(__file__).resolve().parent.parent / "guest"
LAUNCHER, BUILDER, PROBE, START_OBJECT = (
    GUEST / name for name in ("launcher.elf", "builder.elf", "probe.elf", "start.o")
)
REBUILD = "the launcher was not built: install gcc and libc6-dev, and then proctor again"
START_SECONDS = 30.0
SECOND_UIDS = 2000  # added to a slot's uid: that of the second of two boxes
UNCOUNTED = {"uncounted_memory": "EPERM", "growing_memory": "EPERM"}


def is_built() -> bool:
    """Return whether the launcher was built when the package was installed."""
    return all(path.is_file() for path in (LAUNCHER, BUILDER, PROBE, START_OBJECT))


@dataclass(frozen=True)
class LauncherZygote:
    """One kind of launcher; see `sandbox.base.Zygote`.

    Attributes:
        kind: its name.
        may_fork: boxes may have several processes, and execute as often as they like.
        shown: folders and files of the machine that its room shows, read-only; none: only static programs run.
        calls: system calls that its boxes may use beside those of all boxes.
    """

    kind: str
    may_fork: bool = False
    shown: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    start_seconds: float = START_SECONDS

    @cached_property
    def probes(self) -> Probes:
        """Programs that show whether its boxes hold."""
        expected: Mapping[str, object] = UNCOUNTED if self.shown else UNCOUNTED | {"write_usr": "ENOENT"}
        return Probes(partial(_probe, "canary"), partial(_probe, "sleeper"), partial(_probe, "control"), expected)

    def launch(self, place: Place, control: int) -> Launch:
        """Return the launcher's command, with descriptors of the control socket, of itself and of the boxes' filter.

        Raises:
            SandboxError: it was not built.
        """
        if not is_built():
            raise SandboxError(REBUILD)
        itself = os.open(LAUNCHER, os.O_RDONLY | os.O_CLOEXEC)
        bpf = files.create(seccomp.build_launch_filter(processes=self.may_fork, calls=self.calls))
        uid, second = (place.uid, place.uid + SECOND_UIDS) if place.privileged else (-1, -1)
        command = [f"/proc/self/fd/{itself}", *map(str, (control, bpf, uid, second, place.cpu)), *self.shown]
        return Launch(command, [itself, bpf], ENVIRONMENT)


def _probe(name: str, *, mounts: bool = True) -> Executable:
    return Executable(files.create(PROBE.read_bytes(), sealed=True), (name,), mounts=mounts)
