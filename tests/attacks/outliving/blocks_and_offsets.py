"""Reserve blocks, move offsets, take locks and change times of every file that was given; look for earlier ones.

Must fail: blocks, offsets, locks and times end with the run, because its files do.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "OLE"], "outcome": "unpaid", "runs": 3}
import fcntl
import os
import stat
import ctypes

fallocate = ctypes.CDLL(None, use_errno=True).fallocate
fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
KEEP_SIZE = 1


def leave_and_look():
    for fd in range(10):
        try:
            status = os.fstat(fd)
        except OSError:
            continue
        if not stat.S_ISREG(status.st_mode):
            continue
        if status.st_blocks * 512 > status.st_size + (1 << 16):
            os.write(1, b"ESCAPED blocks of an earlier run\n")
        if status.st_mtime == 777:
            os.write(1, b"ESCAPED times of an earlier run\n")
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.write(1, b"ESCAPED a lock of an earlier run\n")
        except OSError:
            pass
        fallocate(fd, KEEP_SIZE, 0, 8 << 20)
        for action in (
            lambda fd=fd: os.lseek(fd, 1 << 20, os.SEEK_SET),
            lambda fd=fd: os.utime(fd, (777, 777)),
            lambda fd=fd: os.fchmod(fd, 0),
        ):
            try:
                action()
            except OSError:
                pass


leave_and_look()


def solve(a, b):
    return 0
