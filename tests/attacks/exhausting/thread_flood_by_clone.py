"""Make bare threads by the system call, without the interpreter's help or book-keeping.

The task limit must hold for these too.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE", "TLE", "MLE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
pause = ctypes.cast(libc.pause, ctypes.c_void_p)
thread, count = ctypes.c_ulong(), 0
attributes = ctypes.create_string_buffer(64)
libc.pthread_attr_init(attributes)
libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(16384))
while count < 100_000 and libc.pthread_create(ctypes.byref(thread), attributes, pause, None) == 0:
    count += 1
if count == 100_000:
    os.write(1, b"ESCAPED a hundred thousand bare threads\n")
os.write(1, b"threads: %d\n" % count)
os._exit(0)
