"""Ask the kernel to signal others on this program's behalf: descriptor owners, timers, leases, parent-death signals.

Must fail: owners are looked up in this PID namespace, where nobody else lives.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import fcntl
import os
import signal

for descriptor in range(64):
    for pid in (os.getppid(), 2, 3, -2):
        if pid in (0, os.getpid()):
            continue
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETOWN, pid)
            fcntl.fcntl(descriptor, 10, signal.SIGKILL)  # F_SETSIG
            flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
            fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC)
            if fcntl.fcntl(descriptor, fcntl.F_GETOWN) == pid and pid > 0:
                print("ESCAPED process", pid, "will be signalled")
        except OSError:
            pass
ctypes.CDLL(None).prctl(1, 0)  # PR_SET_PDEATHSIG: not to die with the parent
print("held")
