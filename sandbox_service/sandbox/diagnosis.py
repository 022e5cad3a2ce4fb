"""Explains to an operator why no sandbox starts, what to change, and what is weaker without root.

The message of an isolation tool ("Error clone: main.c:3094 main: Operation not permitted") says which call failed, and
seldom why. The usual cause is a capability that a container was not given, and the kernel reports which are missing.
Only if none is missing, the message is searched for known causes.

This module explains a fault that has already happened. It does not decide whether a sandbox is isolated.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable

from sandbox_service.errors import SandboxError
from sandbox_service.sandbox.base import IsolationTool
from sandbox_service.sandbox.host import process_status

# capabilities that root may need (bit, purpose); a tool names those that it needs
CAPABILITIES = {
    "SYS_ADMIN": (21, "namespaces and mounts"),
    "NET_ADMIN": (12, "an empty network"),
    "MKNOD": (27, "a private /dev"),
    "CHOWN": (0, "the owners of folders"),
    "SETUID": (7, "the boxes' uid"),
    "SETGID": (6, "the boxes' gid"),
    "SETPCAP": (8, "taking capabilities away"),
    "KILL": (5, "ending a box at its limit"),
}

DID_NOT_JAIL = (
    "see that SANDBOX_ISOLATION_PROGRAM is firejail itself and leaves the environment as it is: without "
    "container=docker in it, firejail in a container takes itself for jailed and does nothing"
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
MASKED_PROC = (
    "parts of this container's /proc are covered, so the kernel refuses a new one: give the container "
    "--security-opt systempaths=unconfined"
)
CAUSES = (
    ("firejail did not jail", DID_NOT_JAIL),
    ("_own_user_namespace", NO_USER_NAMESPACE),
    ("enter_root", NO_ROOT),
    ("cannot create /dev/", MAPPED_ROOT),
    ("Error (clone|unshare)|_box.unshare", NO_NAMESPACE),
    ("No permissions to create|setting up uid map", NO_USER_NAMESPACE),
    ("Creating new namespace failed", NO_NAMESPACE),
    ("Can't mount proc", MASKED_PROC),
    ("[Pp]ermission denied|[Ee]rrno 13", NO_MOUNT),
)


WITHOUT_ROOT = (
    "not root: all boxes run as this service's own uid, so that only their namespaces and filters keep them apart",
    "not root: boxes stand in user namespaces, which this machine must go on allowing to normal users",
    "not root: what the kernel counts for each user (pipe memory, pending signals) all boxes share with this service",
)


def weaknesses() -> tuple[str, ...]:
    """Return a sentence for each protection that is weaker here than it would be as root."""
    return () if os.geteuid() == 0 else WITHOUT_ROOT


def log_weaknesses() -> None:
    """Log the protections that this machine's sandboxes lack."""
    for weakness in weaknesses():
        logging.getLogger(__name__).warning("isolation_is_weaker", extra={"reason": weakness})


def explained(fault: SandboxError, tool: IsolationTool) -> SandboxError:
    """Return the same fault, with advice if its cause is known."""
    mend = advice(str(fault), missing_capabilities(tool))
    return type(fault)(f"{fault}; to mend it: {mend}") if mend else fault


def advice(said: str, missing: Iterable[str]) -> str:
    """Return the change that mends it; empty if the cause is not known.

    Args:
        said: the message of the fault.
        missing: names of capabilities that this process lacks. They explain a fault better than its message.
    """
    lacking = [f"{name} ({CAPABILITIES[name][1]})" for name in missing]
    if lacking:
        options = " ".join(f"--cap-add {name.split()[0]}" for name in lacking)
        return f"this process lacks {', '.join(lacking)}; give its container {options}"
    return next((mend for words, mend in CAUSES if re.search(words, said)), "")


def missing_capabilities(tool: IsolationTool) -> list[str]:
    """Return the capabilities that the tool needs and that this process, or the SUID tool that it starts, lacks.

    Without root, a tool that is not SUID needs none of the machine's: it has those of its user namespace.
    """
    if os.geteuid() != 0 and not tool.setuid:
        return []
    held = int(process_status()["CapEff" if os.geteuid() == 0 else "CapBnd"], 16)
    return [name for name in tool.capabilities if not held >> CAPABILITIES[name][0] & 1]
