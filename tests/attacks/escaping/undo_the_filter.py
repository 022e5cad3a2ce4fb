"""Take the system call filter and `no_new_privs` off again, and listen in on one's own filter's notifications.

Must fail: both are for life. (To add a filter of one's own is harmless and not counted.)
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 0, 0, 0, 0)
if libc.prctl(39, 0, 0, 0, 0) != 1:
    print("ESCAPED took no_new_privs off")
libc.prctl(22, 0, 0)
if libc.prctl(21, 0, 0, 0, 0) != 2:
    print("ESCAPED took the filter off")
if os.uname().machine == "x86_64":
    room = ctypes.create_string_buffer(4096)
    if libc.ptrace(0x420C, os.getpid(), 0, room) > 0:
        print("ESCAPED read the filter back")
print("held")
