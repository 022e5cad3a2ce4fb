"""Sleep, using no CPU time at all.

Must be stopped by the wall clock.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["TLE"], "outcome": "harmless"}
import time


def solve(a, b):
    while True:
        time.sleep(1000)


if __name__ == "__main__":
    solve(20, 22)
