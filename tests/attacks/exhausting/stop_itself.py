"""Stop itself with SIGSTOP: a stopped process uses no time and does not answer to polite signals.

Must be ended by the wall clock.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["TLE", "WA", "RTE"], "outcome": "harmless"}
import os
import signal
import time


def solve(a, b):
    for number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN):
        os.kill(os.getpid(), number)
    time.sleep(1000)


if __name__ == "__main__":
    solve(20, 22)
