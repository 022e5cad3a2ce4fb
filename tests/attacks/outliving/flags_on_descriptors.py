"""Set every status flag, owner and signal on all descriptors, and look for those that an earlier run has set.

Must fail: a run's files are its own, so that no flag of an open file description reaches another run or the host.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid", "runs": 3}
import fcntl
import os

FLAGS = os.O_APPEND | os.O_NONBLOCK | os.O_DIRECT | os.O_NOATIME | os.O_ASYNC
F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ, F_ADD_SEALS = 10, 15, 1024, 1026, 1031, 1033


def leave_and_look():
    for fd in range(16):
        try:
            before = fcntl.fcntl(fd, fcntl.F_GETFL)
        except OSError:
            continue
        if before & (os.O_APPEND | os.O_ASYNC | os.O_NOATIME):
            os.write(1, b"ESCAPED an earlier run's flags are there\n")
        for flag in (FLAGS, os.O_NONBLOCK, os.O_DIRECT, os.O_ASYNC, os.O_APPEND):
            try:
                fcntl.fcntl(fd, fcntl.F_SETFL, before | flag)
            except OSError:
                pass
        for command, argument in (
            (fcntl.F_SETOWN, 1), (fcntl.F_SETOWN, -1), (F_SETSIG, 9), (F_SETLEASE, fcntl.F_WRLCK),
            (F_NOTIFY, 0x8000003F), (F_SETPIPE_SZ, 1 << 20), (F_ADD_SEALS, 0xF),
        ):  # fmt: skip
            try:
                fcntl.fcntl(fd, command, argument)
            except OSError:
                pass


leave_and_look()


def solve(a, b):
    return 0
