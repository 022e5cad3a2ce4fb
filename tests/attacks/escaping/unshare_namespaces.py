"""Enter fresh namespaces of every kind: in a new user namespace a program is root.

Must fail: refused, so that no capability is ever regained.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
KINDS = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000, "uts": 0x4000000,
         "cgroup": 0x2000000, "time": 0x80}
for name, flag in KINDS.items():
    for extra in (0, KINDS["user"]):
        if libc.unshare(ctypes.c_int(flag | extra)) == 0:
            print("ESCAPED into a new namespace:", name)
print("held")
