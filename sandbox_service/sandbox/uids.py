"""Claims the uids of a slot's boxes, so that two services on one machine do not use the same ones.

The kernel counts processes and threads by uid. If a box of another service has the same uid, its threads count against
the limits of this one: fork, exec and new threads fail in a program that is within its own limits. A cgroup has its
name from the uid, so that two services would set each other's limits, too.

A claim is a name of an abstract Unix socket, which belongs to the network namespace and ends with the process. Services
in two containers do not see each other's claims: give each its own `SANDBOX_FIRST_UID`.
"""

from __future__ import annotations

import errno
import functools
import logging
import socket

log = logging.getLogger(__name__)

UIDS = 2000  # that are tried; those of second boxes begin after them (see languages.launcher.SECOND_UIDS)

_claims: list[socket.socket] = []  # open until the process ends


@functools.cache
def claimed(wanted: int) -> int:
    """Return a uid that no other process of this machine has claimed, always the same one in this process.

    If all are claimed, it is `wanted`, which the slot then shares.

    Args:
        wanted: The uid to begin with.
    """
    for uid in range(wanted, wanted + UIDS):
        if _claim(uid):
            return uid
    log.warning("uid_shared", extra={"uid": wanted})
    return wanted


def _claim(uid: int) -> bool:
    found = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        found.bind(f"\0proctor-boxes-{uid}")
    except OSError as error:
        found.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    _claims.append(found)
    return True
