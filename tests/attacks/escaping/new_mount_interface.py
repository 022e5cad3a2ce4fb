"""Mount by the newer calls, which older filters do not know: `open_tree`, `fsopen`, `fsmount`, `move_mount`, `mount_setattr`.

Must fail: refused like the old ones.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
CLONE, RECURSIVE, HERE = 1, 0x8000, -100
tree = libc.syscall(428, HERE, b"/", CLONE | RECURSIVE)  # open_tree, as a detached copy
if tree >= 0:
    print("ESCAPED holds a copy of the mount tree")
    if libc.syscall(429, tree, b"", HERE, b"/tmp", 4) == 0:
        print("ESCAPED moved it to /tmp")
attributes = (ctypes.c_uint64 * 4)(0, 1, 0, 0)  # clear read-only
if libc.syscall(442, HERE, b"/", 0, attributes, 32) == 0:
    print("ESCAPED made the root writable")
for kind in (b"tmpfs", b"proc", b"overlay"):
    context = libc.syscall(430, kind, 0)
    if context >= 0:
        print("ESCAPED may configure a file system of type", kind)
if libc.syscall(433, HERE, b"/tmp", 0) >= 0:
    print("ESCAPED may reconfigure the mount at /tmp")
print("held")
