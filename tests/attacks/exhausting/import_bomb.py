"""A submission that never finishes loading: time must count from the first line, not from the first call.

Must be stopped by time.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["TLE"], "outcome": "harmless"}
import time

while True:
    time.sleep(0.0)


def solve(a, b):
    return 0
