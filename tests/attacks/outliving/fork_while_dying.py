"""Fork from exit handlers, finalisers and signal handlers, over and over, so that killing one leaves another.

Must fail: no fork, at any stage of a process's life.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["WA", "RTE", "TLE"], "outcome": "harmless"}
import atexit
import os
import signal


def again(*args):
    try:
        if os.fork() == 0:
            os.setsid()
        else:
            os.write(1, b"ESCAPED forked while dying\n")
    except OSError:
        pass


class Seed:
    def __del__(self):
        again()


seed = Seed()
atexit.register(again)
signal.signal(signal.SIGTERM, again)
signal.signal(signal.SIGXCPU, again)


def solve(a, b):
    again()
    return 0
