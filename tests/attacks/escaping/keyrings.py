"""Use the kernel's keyrings: join sessions, make rings, ask for keys.

Long a source of kernel bugs, and shared by all that have the uid. Must fail: refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
if os.uname().machine == "x86_64":
    for operation in (0, 1):  # GET_KEYRING_ID with creation, JOIN_SESSION_KEYRING
        for ring in (-1, -2, -3, -4):
            if libc.syscall(250, operation, ring if operation == 0 else None, 1) > 0:
                print("ESCAPED reached keyring", operation, ring)
print("held")
