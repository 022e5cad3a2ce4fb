"""Interrupt, stop or kill the test program's process by every group and session that it could be in.

Must fail: the two boxes of a pair have nothing in common but two pipes.
"""
# proctor: {"test": "assert", "expect": ["WA"], "outcome": "unpaid"}
import os
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)


def solve(a, b):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL, signal.SIGALRM, signal.SIGUSR1):
        for target in (0, -1, os.getpid(), -os.getpgrp(), os.getppid()):
            if number == signal.SIGKILL and target in (0, os.getpid()):  # itself
                continue
            try:
                os.kill(target, number)
            except OSError:
                pass
    return 0
