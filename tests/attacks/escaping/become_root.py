"""Become root: every call that sets a uid or gid, real, effective, saved or for files, and supplementary groups.

Must fail: the uid is set for good before the program starts.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if 0 in os.getresuid():
    print("ESCAPED is root already")
for step in (
    lambda: os.setuid(0), lambda: os.seteuid(0), lambda: os.setreuid(0, 0), lambda: os.setresuid(0, 0, 0),
    lambda: os.setgid(0), lambda: os.setegid(0), lambda: os.setregid(0, 0), lambda: os.setresgid(0, 0, 0),
    lambda: os.setgroups([0]), lambda: os.initgroups("root", 0), lambda: os.setuid(os.getuid() + 1), lambda: os.setgid(1),
):
    try:
        step()
        print("ESCAPED changed identity:", os.getresuid(), os.getresgid(), os.getgroups())
    except OSError:
        pass
libc.setfsuid(0)
if libc.setfsuid(-1) == 0:
    print("ESCAPED is root towards file systems")
print("held")
