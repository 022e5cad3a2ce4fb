"""Write a descriptor into the local table, through which 32-bit code segments, and past kernel bugs, are reached.

Must fail: refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
if os.uname().machine == "x86_64":
    entry = ctypes.create_string_buffer(struct.pack("IIII", 0, 0, 0xFFFFF, 0x51), 16)
    for function in (1, 0x11):
        if ctypes.c_int(libc.syscall(154, function, entry, 16)).value == 0:
            print("ESCAPED changed the local descriptor table")
print("held")
