"""Take charge of page faults: the tool with which races in the kernel are won.

Must fail: refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if os.uname().machine == "x86_64":
    for flags in (0, 1, os.O_CLOEXEC | os.O_NONBLOCK, os.O_CLOEXEC | 1):
        if libc.syscall(323, flags) >= 0:
            print("ESCAPED holds a userfaultfd")
try:
    os.open("/dev/userfaultfd", os.O_RDWR)
    print("ESCAPED opened /dev/userfaultfd")
except OSError:
    pass
print("held")
