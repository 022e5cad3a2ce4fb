"""Hold memory of the kernel that no limit of a process counts: enlarged socket buffers, descriptors in flight, pipes.

Must fail: buffers cannot be enlarged, no descriptor can be sent away, and what is held ends with the process.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import array
import fcntl
import os
import socket

F_SETPIPE_SZ = 1031


def refused(action):
    try:
        action()
    except (OSError, PermissionError):
        return
    os.write(1, b"ESCAPED kernel memory can be had\n")


def solve(a, b):
    one, other = socket.socketpair()
    refused(lambda: one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24))
    refused(lambda: one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24))
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [other.fileno()]))]
    refused(lambda: one.sendmsg([b"x"], rights))
    reader, writer = os.pipe()
    refused(lambda: fcntl.fcntl(writer, F_SETPIPE_SZ, 1 << 20))
    held = [one, other]
    try:
        while True:
            held += socket.socketpair()
            held[-1].setblocking(False)
            while True:
                held[-1].send(b"x" * 65536)
    except OSError:
        pass
    return 0


solve(20, 22)
