"""Swap the root for a folder of one's own, and look where the old one went.

Must fail: refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if os.uname().machine == "x86_64":
    os.makedirs("/tmp/root/old", exist_ok=True)
    for new, old in ((b"/tmp/root", b"/tmp/root/old"), (b"/tmp", b"/tmp"), (b".", b".")):
        if libc.syscall(155, new, old) == 0:
            print("ESCAPED changed the root by pivot_root")
print("held")
