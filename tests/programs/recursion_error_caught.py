"""Recurses into the default limit on purpose, and goes on from the error."""
# proctor: {"input": "", "output": "too deep True\n"}
import sys


def down(n):
    return down(n + 1)


try:
    down(0)
except RecursionError:
    print("too deep", 900 < sys.getrecursionlimit())
