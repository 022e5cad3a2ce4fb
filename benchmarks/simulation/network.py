"""A network between processes with a namespace each, if the machine allows it; otherwise the loopback interface."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

from benchmarks import procs
from benchmarks.contenders.base import UnavailableError

NETWORK = "10.77"
START_SECONDS = 180.0


class Network:
    """A bridge in an anonymous namespace, which ends with the process that holds it."""

    def __init__(self, holder: subprocess.Popen[bytes]) -> None:
        self._holder = holder
        self._count = 0
        _wait_until_apart(holder.pid)
        self._ip(holder.pid, "link add br0 type bridge", "link set br0 up")

    def join(self, pid: int) -> str:
        """Connect a process that has a namespace of its own. Return its address."""
        _wait_until_apart(pid)
        self._count += 1
        address = f"{NETWORK}.{self._count // 250}.{self._count % 250 + 1}"
        port = f"port{self._count}"
        self._ip(self._holder.pid, f"link add {port} type veth peer name eth0 netns {pid}")
        self._ip(self._holder.pid, f"link set {port} master br0", f"link set {port} up")
        self._ip(pid, f"addr add {address}/16 dev eth0", "link set eth0 up", "link set lo up")
        return address

    @staticmethod
    def _ip(pid: int, *lines: str) -> None:
        subprocess.run(
            ["nsenter", "--target", str(pid), "--net", "ip", "-batch", "-"],
            input="\n".join(lines).encode(),
            check=True,
            stdout=subprocess.DEVNULL,
        )


def apart() -> list[str]:
    """Return the prefix of a command that gets a network namespace; empty where namespaces cannot be made."""
    return ["unshare", "--net"] if can_be_apart() else []


def can_be_apart() -> bool:
    """Return whether network namespaces can be made. SIMULATION_LOOPBACK turns them off."""
    if os.environ.get("SIMULATION_LOOPBACK"):
        return False
    if not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        return False
    made = subprocess.run(["unshare", "--net", "ip", "link", "add", "br0", "type", "bridge"], capture_output=True)
    if made.returncode:
        os.environ["SIMULATION_LOOPBACK"] = "1"
        print("note: no network namespaces here, so everything goes over lo", file=sys.stderr)
    return made.returncode == 0


def _wait_until_apart(pid: int) -> None:
    ours, deadline = procs.link(os.getpid(), "ns/net"), time.monotonic() + START_SECONDS
    while procs.link(pid, "ns/net") in (ours, ""):
        if time.monotonic() > deadline:
            raise UnavailableError("a process did not get its network namespace")
        time.sleep(0.01)
