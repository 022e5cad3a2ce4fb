"""Call `clone` and `clone3` directly with namespace flags, also hidden in the upper half of the register.

A filter that looks at 32 bits of the flags, or does not know `clone3`, lets them through. Must fail.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
USER, PID, MOUNT, NET, PARENT, CHILD = 0x10000000, 0x20000000, 0x20000, 0x40000000, 0x8000, 17


def attempt(name, *arguments):
    result = libc.syscall(*[ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments])
    if result == 0:
        os._exit(77)  # the child
    if result > 0:
        print("ESCAPED made a process by", name, flush=True)


if os.uname().machine == "x86_64":
    for flags in (USER, PID, MOUNT, NET, USER | PID, USER | MOUNT | NET, PID | PARENT, PARENT, 0):
        attempt(f"clone {flags:#x}", 56, flags | CHILD, 0, 0, 0, 0)
        attempt(f"clone {flags:#x} with high bits", 56, (1 << 32) | flags | CHILD, 0, 0, 0, 0)
        arguments = (ctypes.c_uint64 * 11)(flags, 0, 0, 0, CHILD, 0, 0, 0, 0, 0, 0)
        attempt(f"clone3 {flags:#x}", 435, arguments, 88)
print("held")
