"""What an operator must be told: why no jail starts and what to change, and what is weaker without root.

firejail's own words ("Error clone: main.c:3094 main: Operation not permitted") say which call failed, seldom why. Why
is read from what this process may do: a capability that a container was not given is the usual cause, and the kernel
tells which are missing. Only if none is, the words are searched for causes that were seen.

This explains a fault that has already happened. Whether a jail is one is never decided here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from sandbox_service.errors import SandboxFault
from sandbox_service.jails.ourselves import process_status

# what a root that makes jails must hold (bit, what for); without root it must not be barred from firejail's SUID root
CAPABILITIES = {
    "SYS_ADMIN": (21, "namespaces and mounts"),
    "NET_ADMIN": (12, "an empty network"),
    "MKNOD": (27, "a private /dev"),
    "CHOWN": (0, "firejail's own folders"),
    "SETUID": (7, "the boxes' uid"),
    "SETGID": (6, "the boxes' gid"),
    "SETPCAP": (8, "taking capabilities away"),
    "KILL": (5, "ending a box at its limit"),
}

DID_NOT_JAIL = (
    "see that SANDBOX_FIREJAIL is firejail itself and leaves the environment as it is: without container=docker in it, "
    "firejail in a container takes itself for jailed and does nothing"
)
NO_USER_NAMESPACE = (
    "normal users may not make user namespaces here: run as root, or see sysctl user.max_user_namespaces, "
    "kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns; in a container, also its "
    "seccomp profile"
)
NO_NAMESPACE = (
    "a seccomp profile refuses new namespaces: use the container runtime's default profile, which allows them together "
    "with SYS_ADMIN"
)
NO_ROOT = "a seccomp profile refuses pivot_root, and chroot cannot replace it: give the container --cap-add SYS_CHROOT"
NO_MOUNT = "AppArmor or SELinux may refuse mounts: give the container --security-opt apparmor=unconfined"
MAPPED_ROOT = (
    "root of a user namespace may not make devices: run the container without mapped uids (not rootless, no "
    "userns-remap, no hostUsers: false)"
)
CAUSES = (
    ("did not jail", DID_NOT_JAIL),
    ("_own_user_namespace", NO_USER_NAMESPACE),
    ("enter_root", NO_ROOT),
    ("cannot create /dev/", MAPPED_ROOT),
    ("Error (clone|unshare)|_box.unshare", NO_NAMESPACE),
    ("[Pp]ermission denied|[Ee]rrno 13", NO_MOUNT),
)


WITHOUT_ROOT = (
    "not root: all boxes run as this service's own uid, so that only their namespaces and filters keep them apart",
    "not root: boxes stand in user namespaces, which this machine must go on allowing to normal users",
    "not root: what the kernel counts for each user (pipe memory, pending signals) all boxes share with this service",
)


def weaknesses() -> tuple[str, ...]:
    """What holds less well here than it would as root."""
    return () if os.geteuid() == 0 else WITHOUT_ROOT


def explained(fault: SandboxFault) -> SandboxFault:
    """The same fault with what to do about it, if that is known."""
    mend = advice(str(fault), missing_capabilities())
    return type(fault)(f"{fault}; to mend it: {mend}") if mend else fault


def advice(said: str, missing: Iterable[str]) -> str:
    """What to do: missing capabilities first, then known words."""
    lacking = [f"{name} ({CAPABILITIES[name][1]})" for name in missing]
    if lacking:
        options = " ".join(f"--cap-add {name.split()[0]}" for name in lacking)
        return f"this process lacks {', '.join(lacking)}; give its container {options}"
    return next((mend for words, mend in CAUSES if re.search(words, said)), "")


def missing_capabilities() -> list[str]:
    """Which of the needed ones we, or as a normal user the SUID firejail that we start, cannot have."""
    held = int(process_status()["CapEff" if os.geteuid() == 0 else "CapBnd"], 16)
    return [name for name, (bit, _) in CAPABILITIES.items() if not held >> bit & 1]
