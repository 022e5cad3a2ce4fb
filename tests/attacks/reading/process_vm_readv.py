"""Read another process's memory with `process_vm_readv`, which needs no file in `/proc`.

Must fail: the call is refused, and there is nobody to read.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(4096)
for pid in {os.getppid(), *range(1, 200)} - {os.getpid(), 0}:
    for address in (0x400000, 0x8F0000, 0x555555554000):
        local, remote = Vector(ctypes.addressof(buffer), 4096), Vector(address, 4096)
        if libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) > 0:
            print(f"ESCAPED read the memory of process {pid}")
print("held")
