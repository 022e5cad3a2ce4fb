"""Recurse through C code, `repr`, comparison and destructors, until the machine's stack runs out.

Must end as a crash of this process alone.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["RTE", "MLE", "TLE", "WA"], "outcome": "harmless"}
import functools
import sys

sys.setrecursionlimit(2**31 - 1)


@functools.lru_cache(None)
def down(n):
    return down(n + 1)


def solve(a, b):
    value = []
    for _ in range(3_000_000):
        value = [value]
    repr(value)
    return down(0)


if __name__ == "__main__":
    solve(20, 22)
