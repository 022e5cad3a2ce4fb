"""End the main thread alone, by `pthread_exit`: the process looks dead while its other threads work on.

Must be ended: a box is over when its last thread is.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["TLE", "RTE", "WA"], "outcome": "harmless"}
import ctypes
import os
import threading


def spin():
    while True:
        pass


def solve(a, b):
    threading.Thread(target=spin).start()
    libc = ctypes.CDLL(None)
    libc.syscall(60 if os.uname().machine == "x86_64" else 93, 0)  # exit, of this thread alone
    return 0


if __name__ == "__main__":
    solve(20, 22)
