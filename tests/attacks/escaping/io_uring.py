"""Set up an io_uring: its operations, sockets and opens among them, pass by every system call filter.

Must fail: refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
parameters = ctypes.create_string_buffer(120)
ring = libc.syscall(425, 8, parameters)
if ring >= 0:
    print("ESCAPED holds an io_uring")
    libc.syscall(426, ring, 0, 0, 0, None, 0)
if libc.syscall(427, 0, 0, None, 0) >= 0:
    print("ESCAPED registered with an io_uring")
print("held")
