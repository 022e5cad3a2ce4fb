"""Recurses a hundred thousand deep on the main thread with nothing but a raised recursion limit."""
# proctor: {"input": "", "output": "100000\n"}
import sys

sys.setrecursionlimit(10**6)


def depth(n):
    if n == 0:
        return 0
    return 1 + depth(n - 1)


print(depth(100_000))
