"""Count events of the processor, of oneself, of a whole core: neighbours' work shows in the counts.

Must fail: refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
if os.uname().machine == "x86_64":
    for kind in (0, 1, 2):
        for pid, core in ((0, -1), (-1, 0), (1, -1)):
            request = ctypes.create_string_buffer(struct.pack("IIQ", kind, 128, 0), 128)
            if libc.syscall(298, request, pid, core, -1, 0) >= 0:
                print("ESCAPED counts events of kind", kind, "for", pid, core)
print("held")
