"""Print, cut stdout to nothing, then seek a terabyte ahead and write: holes, huge sizes, negative offsets.

A host that trusts the file's size allocates it; one that trusts the offset reads past the end. Must fail cheaply.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "OLE"], "outcome": "unpaid"}
import os


def stretch():
    for descriptor in range(1, 64):
        for step in (
            lambda: os.write(descriptor, b"first\n"),
            lambda: os.ftruncate(descriptor, 0),
            lambda: os.lseek(descriptor, 1 << 40, os.SEEK_SET),
            lambda: os.write(descriptor, b"far away\n"),
            lambda: os.ftruncate(descriptor, 1 << 41),
            lambda: os.posix_fallocate(descriptor, 0, 1 << 40),
        ):
            try:
                step()
            except OSError:
                pass


def solve(a, b):
    stretch()
    return 0


if __name__ == "__main__":
    stretch()
