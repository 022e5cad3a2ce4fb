"""Ask for direct access to the machine's ports, by `ioperm`, `iopl` and `/dev/port`.

Must fail: refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if os.uname().machine == "x86_64":
    if libc.ioperm(0x80, 1, 1) == 0:
        print("ESCAPED may use a port")
    for level in (1, 3):
        if libc.iopl(level) == 0:
            print("ESCAPED has privilege level", level)
try:
    os.open("/dev/port", os.O_RDWR)
    print("ESCAPED opened /dev/port")
except OSError:
    pass
print("held")
