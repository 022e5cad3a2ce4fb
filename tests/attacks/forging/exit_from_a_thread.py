"""Answer wrongly, and let a thread end the process with status 0 a moment later, in the middle of whatever follows.

Must fail: the answer was wrong or missing, whichever comes first.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import os
import threading
import time


def later():
    time.sleep(0.01)
    os._exit(0)


def solve(a, b):
    threading.Thread(target=later, daemon=True).start()
    return 0


if __name__ == "__main__":
    solve(20, 22)
    time.sleep(1)
    raise ValueError("never told")
