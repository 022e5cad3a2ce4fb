"""Make 32-bit system calls from machine code: `int 0x80` uses other numbers for the same calls.

A filter that ignores the calling convention reads "socket" as something harmless. Must fail: refused, or killed.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import mmap
import os

CODE = bytes.fromhex("53 89f8 89f3 87ca cd80 5b c3")  # call(number, a, b, c), with rbx kept
if os.uname().machine == "x86_64":
    print("trying", flush=True)
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(CODE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int)(address)
    for name, *arguments in (("getpid", 20, 0, 0, 0), ("socket", 359, 2, 1, 0), ("unshare", 310, 0x10000000, 0, 0)):
        if call(*arguments) >= 0:
            print("ESCAPED made the 32-bit call", name, flush=True)
print("held")
