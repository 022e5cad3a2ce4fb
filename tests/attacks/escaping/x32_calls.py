"""Make system calls by their x32 numbers, which a filter by plain numbers does not recognise.

Must fail: refused, or the program is killed.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
X32 = 0x40000000
if os.uname().machine == "x86_64":
    print("trying", flush=True)
    for name, number, *arguments in (
        ("getpid", 39), ("socket", 41, 2, 1, 0), ("unshare", 272, 0x10000000), ("ptrace", 521, 0, 0, 0, 0), ("keyctl", 250, 0, -1, 1),
    ):
        if libc.syscall(X32 | number, *arguments) >= 0:
            print("ESCAPED made the x32 call", name, flush=True)
print("held")
