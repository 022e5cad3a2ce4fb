"""Leave POSIX shared memory, a named semaphore and a message queue, and look for those of an earlier run.

Must fail: refused, or gone with the run's own mounts and IPC namespace.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless", "runs": 2}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CREATE = os.O_CREAT | os.O_RDWR
for name in (b"/left-by-another-run",):
    for opener, arguments in (
        (libc.shm_open, (os.O_RDONLY, 0)),
        (libc.mq_open, (os.O_RDONLY,)),
    ):
        if opener(name, *arguments) >= 0:
            print("ESCAPED found an object of another run by", opener.__name__)
    libc.shm_open(name, CREATE, 0o666)
    libc.mq_open(name, CREATE, 0o666, None)
    libc.sem_open.restype = ctypes.c_void_p
    if libc.sem_open(name, 0):
        print("ESCAPED found a semaphore of another run")
    libc.sem_open(name, os.O_CREAT, 0o666, 1)
print("held")
