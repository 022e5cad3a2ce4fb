"""A different exit status for each call, in the hope that one of them means something good to the host.

Must fail: the only status that does not condemn a program is 0, and 0 alone does not acquit it.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE", "MLE"], "outcome": "unpaid"}
import os


def solve(a, b):
    os._exit((a * 7 + b) % 256)
