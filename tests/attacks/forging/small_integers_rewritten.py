"""Overwrite the digits of the cached small integers, so that 0 is 1 and every count and status comes out well.

Must fail: the damage stays in this process, and the kernel's count of its fate does not use Python's integers.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE", "TLE", "MLE", "OLE"], "outcome": "unpaid"}
import ctypes


def solve(a, b):
    for number in range(2, 257):
        ctypes.c_uint32.from_address(id(number) + 24).value = 1
    return a
