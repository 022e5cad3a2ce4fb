"""Change what other processes feel, by system call: priorities by group and user, core scheduling, prctl of every number.

Must fail, or change this process alone.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "harmless", "runs": 2}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
HARMLESS = {0, 1, 2, 3, 4, 15, 16, 21, 23, 29, 30, 39, 40}  # of this process alone, and for no longer than it lives
SCHED_CORE, SET_SECCOMP, SET_SYSCALL_USER_DISPATCH = 62, 22, 59


def solve(a, b):
    for option in range(80):
        if option in HARMLESS:
            continue
        ctypes.set_errno(0)
        if libc.prctl(option, 1, 0, 0, 0) != -1 or ctypes.get_errno() != 1:
            os.write(1, f"ESCAPED prctl({option}) is not refused\n".encode())
    for which in (os.PRIO_PROCESS, os.PRIO_PGRP, os.PRIO_USER):
        try:
            os.setpriority(which, 0, 19)
            os.write(1, b"ESCAPED priorities can be set\n")
        except OSError:
            pass
    for number, arguments in ((251, (1, 0, 7)), (251, (2, 0, 7)), (251, (3, 60001, 7)), (144, (0, 0, 0))):
        if libc.syscall(number, *arguments) != -1:  # ioprio_set, sched_setscheduler
            os.write(1, b"ESCAPED the scheduler obeys\n")
    return 0


solve(20, 22)
