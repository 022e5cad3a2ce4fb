"""Close every descriptor, so that the box cannot say anything, good or bad, and end well.

Must fail: silence is not an answer, and it is not a fault of the service either.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import os


def solve(a, b):
    os.closerange(0, 4096)
    return 0


if __name__ == "__main__":
    os.closerange(0, 4096)
