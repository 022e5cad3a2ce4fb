"""Fill every file that was given with reserved blocks, over and over, so that the host would hold them.

Must fail: they are bounded by the limit on output, and freed with the run.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "OLE"], "outcome": "unpaid", "runs": 3}
import ctypes
import os

fallocate = ctypes.CDLL(None, use_errno=True).fallocate
fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]


def solve(a, b):
    for fd in range(10):
        for mode in (0, 1):
            for size in (1 << 30, 1 << 25, 1 << 24, 1 << 20):
                if fallocate(fd, mode, 0, size) == 0 and size > 1 << 25:
                    os.write(1, b"ESCAPED more than the limit\n")
    return 0


solve(20, 22)
