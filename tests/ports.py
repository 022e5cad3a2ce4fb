"""Hands out TCP ports to servers that tests start.

A port that the kernel chooses (`bind` to 0) is free for the moment only: until the server binds it, any outgoing
connection and any other test may get it. Ports from here lie below the kernel's ephemeral range, and a counter that all
test processes of the machine share hands each out once before the first is handed out again.
"""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from pathlib import Path

LOWEST = 10_000
COUNTER = Path(tempfile.gettempdir()) / f"proctor-test-port-{os.getuid()}"


def free_port() -> int:
    """Return a port of the loopback address on which no process listens and which no other test is given soon.

    It can be used again after its server ended: no outgoing connection takes it in between.
    """
    with COUNTER.open("a+") as counter:
        fcntl.flock(counter, fcntl.LOCK_EX)
        port = _first_free_after(_last(counter.fileno()))
        counter.truncate(0)
        counter.write(str(port))
    return port


def _last(descriptor: int) -> int:
    """Return the port that was handed out last."""
    text = os.pread(descriptor, 16, 0)
    return int(text) if text.isdigit() else LOWEST


def _first_free_after(port: int) -> int:
    highest = _lowest_ephemeral() - 1
    for _ in range(LOWEST, highest):
        port = port + 1 if port < highest else LOWEST
        if _is_free(port):
            return port
    raise OSError(f"no port from {LOWEST} to {highest} is free")


def _lowest_ephemeral() -> int:
    return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # as servers do: connections of a server that has ended may linger
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
