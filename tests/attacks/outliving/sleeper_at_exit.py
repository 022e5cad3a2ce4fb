"""Register exit handlers that sleep, and that register themselves again.

Must be ended by the wall clock.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["TLE", "WA", "RTE"], "outcome": "harmless"}
import atexit
import threading
import time


def linger():
    atexit.register(linger)
    time.sleep(1)


atexit.register(linger)
threading._register_atexit(linger)


def solve(a, b):
    return 0


if __name__ == "__main__":
    print("done")
