"""Join the namespaces of other processes, by files in `/proc` and by process handles.

Must fail: no such file can be opened, and the call is refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for pid in ("self", "1", str(os.getppid())):
    for kind in ("user", "mnt", "pid", "pid_for_children", "net", "ipc", "uts", "cgroup", "time"):
        try:
            handle = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        except OSError:
            continue
        if libc.setns(handle, 0) == 0:
            print("ESCAPED joined a namespace:", pid, kind)
        try:
            import fcntl

            for request in (0xB701, 0xB702):  # NS_GET_USERNS, NS_GET_PARENT
                fcntl.ioctl(handle, request)
                print("ESCAPED holds the parent of namespace", kind)
        except OSError:
            pass
try:
    handle = os.pidfd_open(1)
    if libc.setns(handle, 0x20000) == 0:
        print("ESCAPED joined the mounts of process 1")
except OSError:
    pass
print("held")
