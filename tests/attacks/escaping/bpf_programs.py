"""Make a BPF map and load a BPF program, as a filter and as a tracing program.

Must fail: refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
if os.uname().machine == "x86_64":
    shape = ctypes.create_string_buffer(struct.pack("IIIII", 2, 4, 8, 1, 0), 128)  # an array
    if libc.syscall(321, 0, shape, 128) >= 0:
        print("ESCAPED made a BPF map")
    code = ctypes.create_string_buffer(bytes.fromhex("b700000000000000") + bytes.fromhex("9500000000000000"))
    licence = ctypes.create_string_buffer(b"GPL")
    for kind in (1, 2, 5):
        request = struct.pack("IIQQ", kind, 2, ctypes.addressof(code), ctypes.addressof(licence))
        if libc.syscall(321, 5, ctypes.create_string_buffer(request, 128), 128) >= 0:
            print("ESCAPED loaded a BPF program of kind", kind)
print("held")
