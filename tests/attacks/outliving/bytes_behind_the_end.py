"""Write behind the end of every file that was given: in its last page by mmap, by seeking, by growing and shrinking it.

Looks for what an earlier run left there. Must fail: the files of a run are new.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "OLE"], "outcome": "unpaid", "runs": 3}
import mmap
import os

MARK = b"left by an earlier run"


def try_one(fd):
    size = os.fstat(fd).st_size
    try:
        if not size:
            os.ftruncate(fd, 1)
        page = mmap.mmap(fd, mmap.PAGESIZE if size <= mmap.PAGESIZE else size)
    except (OSError, ValueError):
        return
    if MARK in page[:]:
        os.write(1, b"ESCAPED the last page has bytes of an earlier run\n")
    page[-len(MARK) :] = MARK
    page.flush()
    os.ftruncate(fd, mmap.PAGESIZE * 4)
    os.pwrite(fd, MARK, mmap.PAGESIZE * 3)
    os.ftruncate(fd, size)


def leave_and_look():
    for fd in range(10):
        try:
            try_one(fd)
        except OSError:
            pass


leave_and_look()


def solve(a, b):
    return 0
