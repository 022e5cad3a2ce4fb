"""Take open descriptors from other processes with `pidfd_getfd`, and from `/proc/PID/fd`.

Must fail: no process handle but one's own can be had.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for pid in {os.getppid(), *range(1, 200)} - {0, os.getpid()}:
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        continue
    for descriptor in range(8):
        if libc.syscall(438, handle, descriptor, 0) >= 0:
            print("ESCAPED took descriptor", descriptor, "of process", pid)
print("held")
