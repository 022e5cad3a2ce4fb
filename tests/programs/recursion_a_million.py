"""Recurses nearly a million deep on the main thread."""
# proctor: {"input": "", "output": "900000\n", "limits": {"memory_bytes": 2147483648, "cpu_seconds": 8}}
import sys

sys.setrecursionlimit(10**6 + 10)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


print(depth(900_000))
