"""Ignore SIGTERM, SIGHUP and SIGINT, answer them with output, and go on sleeping.

Must be ended by SIGKILL, which cannot be ignored.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["TLE", "RTE"], "outcome": "harmless"}
import os
import signal
import time

for _number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXCPU):
    signal.signal(_number, lambda number, frame: os.write(1, b"no\n"))


def solve(a, b):
    while True:
        time.sleep(10)


if __name__ == "__main__":
    solve(20, 22)
