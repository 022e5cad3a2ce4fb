"""Attach to other processes as a debugger, by ATTACH and by SEIZE, and let the parent trace this one.

Must fail: refused, and nobody is there.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
for pid in {os.getppid(), *range(1, 300)} - {0, os.getpid()}:
    for request in (16, 0x4206):  # ATTACH, SEIZE
        if libc.ptrace(request, pid, None, None) == 0:
            print("ESCAPED attached to process", pid)
if libc.ptrace(0, 0, None, None) == 0:  # TRACEME
    print("ESCAPED asked the parent to trace this process")
print("held")
