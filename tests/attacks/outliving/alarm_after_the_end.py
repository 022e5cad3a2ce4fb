"""Arm timers that are to fire when the program is over and the process, if it is used again, runs another.

Must fail: a process that ran a submission is never used for another one.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["WA", "RTE"], "outcome": "unpaid", "runs": 2}
import os
import signal


def strike(*args):
    os.write(1, b"struck\n")
    os._exit(0)


if signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
    print("ESCAPED this process has run another submission", flush=True)
signal.signal(signal.SIGALRM, strike)
signal.setitimer(signal.ITIMER_REAL, 0.2)


def solve(a, b):
    return 0
