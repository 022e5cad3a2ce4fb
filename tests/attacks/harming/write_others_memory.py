"""Write into other processes' memory, by `process_vm_writev` and through `/proc/PID/mem`.

Must fail: refused, and nobody is there.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
junk = ctypes.create_string_buffer(b"\xcc" * 64)
for pid in {os.getppid(), *range(1, 300)} - {0, os.getpid()}:
    try:
        with open(f"/proc/{pid}/mem", "r+b", buffering=0):
            print("ESCAPED opened the memory of process", pid, "for writing")
    except OSError:
        pass
    for address in (0x8F0000, 0x400000):
        local, remote = Vector(ctypes.addressof(junk), 64), Vector(address, 64)
        if libc.process_vm_writev(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) > 0:
            print("ESCAPED wrote into process", pid)
print("held")
