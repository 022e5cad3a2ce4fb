"""End the main part, but keep a thread that sleeps for ever, for which the interpreter waits.

Must be ended by the wall clock.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["TLE", "WA", "RTE"], "outcome": "harmless"}
import threading
import time


def solve(a, b):
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return 0


if __name__ == "__main__":
    solve(20, 22)
