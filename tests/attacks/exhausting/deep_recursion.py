"""Recurse without end and with the interpreter's own limit lifted.

Must end as a crash or at the memory limit, in this process alone.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["RTE", "MLE", "TLE"], "outcome": "harmless"}
import sys

sys.setrecursionlimit(2**31 - 1)


def solve(a, b):
    return 1 + solve(a, b)


if __name__ == "__main__":
    solve(20, 22)
