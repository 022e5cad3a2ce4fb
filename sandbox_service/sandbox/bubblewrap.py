"""bubblewrap as the isolation tool: for machines that have no firejail, and for users without its SUID bit.

The walls are those of worker.profile, made differently:

* The zygote sees a list of what it needs (/usr, a minimal /dev, its own /proc and /tmp) instead of the machine's root
  less a list. So a folder that firejail's profile does not name is hidden here.
* The system call filter is of our own making (`seccomp.build_outer_filter`), from the same list.
* Without root, bubblewrap makes a user namespace and needs no SUID bit: there is no program with root's rights that a
  box could attack, and the machine must allow user namespaces to normal users, for one more level than with firejail.
* D-Bus and other sockets of the machine are out of sight with their folders.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sandbox_service.sandbox import files, seccomp
from sandbox_service.sandbox.base import Launch
from sandbox_service.sandbox.host import process_status

# capabilities that the zygote needs to make boxes (bits as in linux/capability.h); a box itself has none
CAPABILITIES = {
    "SYS_ADMIN": 21, "SYS_CHROOT": 18, "SETUID": 7, "SETGID": 6, "KILL": 5, "SYS_RESOURCE": 24, "SETPCAP": 8,
    "CHOWN": 0, "DAC_OVERRIDE": 1,
}  # fmt: skip
NAMESPACES = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
SHOWN = ("/usr", "/etc/alternatives", "/etc/ld.so.cache")
CONFIGURED = ("java-*-openjdk", "mono")  # below /etc: virtual machines do not start without these folders
LINKS = ("bin", "lib", "lib32", "lib64", "sbin")


@dataclass(frozen=True)
class Bubblewrap:
    """bwrap with a root of its own."""

    program: str = "/usr/bin/bwrap"
    name: ClassVar[str] = "bubblewrap"
    version_pattern: ClassVar[str] = r"bubblewrap ([\d.]+)"
    oldest_tried: ClassVar[tuple[int, ...]] = (0, 8, 0)
    capabilities: ClassVar[tuple[str, ...]] = ("SYS_ADMIN", "NET_ADMIN", "CHOWN", "SETUID", "SETGID", "SETPCAP", "KILL")
    setuid: ClassVar[bool] = False

    def enclose(self, launch: Launch) -> Launch:
        """Return the command behind bwrap, which reads its system call filter from one more descriptor."""
        outer_filter = files.create(seccomp.build_outer_filter())
        os.lseek(outer_filter, 0, os.SEEK_SET)
        command = [self.program, *_walls(), "--seccomp", str(outer_filter), "--", *launch.command]
        return Launch(command, [*launch.fds, outer_filter], launch.environment)

    def debug_command(self) -> str:
        """Return a shell command that starts nothing behind the same walls."""
        return f"{self.program} {' '.join(_walls())} -- /usr/bin/true"


def _kept() -> list[str]:
    """Return the capabilities to keep: as root, of those that this process has; a container may lack some."""
    held = int(process_status()["CapEff"], 16) if os.geteuid() == 0 else ~0
    return [name for name, bit in CAPABILITIES.items() if held >> bit & 1]


def _walls() -> list[str]:
    configured = sorted(str(path) for name in CONFIGURED for path in Path("/etc").glob(name))
    shown = [part for path in (*SHOWN, *configured) for part in ("--ro-bind-try", path, path)]
    links = [path for name in LINKS if (path := Path("/", name)).is_symlink()]
    return [
        *NAMESPACES,
        "--die-with-parent",
        "--cap-drop", "ALL",
        *(part for name in _kept() for part in ("--cap-add", f"CAP_{name}")),
        *shown,
        *(part for path in links for part in ("--symlink", str(path.readlink()), str(path))),
        "--dev", "/dev",
        "--proc", "/proc",
        "--tmpfs", "/tmp",  # noqa: S108
        "--chdir", "/",
    ]  # fmt: skip
