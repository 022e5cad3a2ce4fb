"""firejail as the isolation tool: the default.

Where firejail believes that it is sandboxed already, it starts a program without isolating it, and without a message.
So a jail that has started is not yet trusted; see `jail.verify` and canary.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sandbox_service.sandbox.base import Launch

PROFILE = Path(__file__).resolve().parent / "worker.profile"


@dataclass(frozen=True)
class Firejail:
    """firejail with our profile (worker.profile). Without root it needs its SUID bit."""

    program: str = "/usr/bin/firejail"
    name: ClassVar[str] = "firejail"
    version_pattern: ClassVar[str] = r"firejail version ([\d.]+)"
    oldest_tried: ClassVar[tuple[int, ...]] = (0, 9, 72)
    capabilities: ClassVar[tuple[str, ...]] = (
        "SYS_ADMIN", "NET_ADMIN", "MKNOD", "CHOWN", "SETUID", "SETGID", "SETPCAP", "KILL",
    )  # fmt: skip
    setuid: ClassVar[bool] = True

    def enclose(self, launch: Launch) -> Launch:
        """Return the command behind firejail."""
        kept = ",".join(map(str, launch.fds))
        jail = [self.program, "--quiet", f"--profile={PROFILE}", f"--keep-fd={kept}", "--"]
        # without `container`, firejail in a container takes itself for sandboxed and does nothing
        return Launch(jail + launch.command, launch.fds, {**launch.environment, "container": "docker"})

    def debug_command(self) -> str:
        """Return a shell command that starts the profile with firejail's messages."""
        return f"env container=docker {self.program} --debug --profile={PROFILE} -- /usr/bin/true"
