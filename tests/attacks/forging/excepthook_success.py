"""Crash, but with hooks that turn the crash into a quiet end with status 0.

Must fail: a quiet end is no answer.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import os
import sys
import threading


def well(*args):
    os._exit(0)


sys.excepthook = sys.unraisablehook = threading.excepthook = sys.__excepthook__ = well


def solve(a, b):
    raise ValueError("hidden")


if __name__ == "__main__":
    solve(20, 22)
