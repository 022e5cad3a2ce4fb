"""Leave System V shared memory, semaphores and message queues, and look for those of others.

They outlive their makers. Must fail: refused, or in an IPC namespace that ends with the run.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless", "runs": 2}
import ctypes
import os

KEY, CREATE = 0x50524F43, 0o1000 | 0o666
libc = ctypes.CDLL(None, use_errno=True)
if libc.shmget(KEY, 0, 0) >= 0 or libc.semget(KEY, 0, 0) >= 0 or libc.msgget(KEY, 0) >= 0:
    print("ESCAPED System V objects of another run are here")
for name in ("shm", "sem", "msg"):
    try:
        with open(f"/proc/sysvipc/{name}") as file:
            if len(file.readlines()) > 1:
                print("ESCAPED others' System V objects are listed:", name)
    except OSError:
        pass
made = [libc.shmget(KEY, 4096, CREATE), libc.semget(KEY, 1, CREATE), libc.msgget(KEY, CREATE)]
print("held", sum(identifier >= 0 for identifier in made), os.getpid())
