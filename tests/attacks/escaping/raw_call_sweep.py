"""Go through the dangerous system calls by number, each with arguments under which it succeeds if it is let through.

Must fail: none succeeds. Calls that need a capability first are aimed at nothing, so that even success does no damage.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE", "TLE"], "outcome": "harmless"}
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
room = ctypes.create_string_buffer(4096)
SUCCEED = {
    "kcmp": (312, os.getpid(), os.getpid(), 1, 0, 0),
    "lookup_dcookie": (212, 0, room, 4096),
    "fanotify_init": (300, 0, 0),
    "ptrace": (101, 0, 0, 0, 0),
    "set_mempolicy": (238, 3, ctypes.byref(ctypes.c_ulong(1)), 64),
    "migrate_pages": (256, 0, 1, ctypes.byref(ctypes.c_ulong(1)), ctypes.byref(ctypes.c_ulong(1))),
    "vhangup": (153,),
    "swapoff": (168, b"/nowhere"),
    "quotactl": (179, 0x80000100, b"/", 0, room),
    "iopl": (172, 3),
    "ioperm": (173, 0x80, 1, 1),
}
NEED_CAPABILITY = {  # any refusal but these two means that the capability is held
    "init_module": (175, None, 0, b""),
    "finit_module": (313, -1, b"", 0),
    "delete_module": (176, b"no_such_module", 0),
    "kexec_load": (246, 0, 0, None, 0xFFFFFFFF),
    "reboot": (169, 0, 0, 0, None),
    "swapon": (167, b"/nowhere", 0),
}
if os.uname().machine == "x86_64":
    for name, call in SUCCEED.items():
        if libc.syscall(*call) >= 0:
            print("ESCAPED made the call", name)
    for name, call in NEED_CAPABILITY.items():
        if libc.syscall(*call) >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            print("ESCAPED has the right to call", name, errno.errorcode.get(ctypes.get_errno()))
print("held")
