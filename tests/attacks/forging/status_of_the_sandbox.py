"""Exit with the status by which a box might report that it could not be set up.

Believed, that would turn a failure into "the service's fault", and a hard sample would be masked instead of scored.
Must fail: an exit status chosen by the program can only ever be the program's own failure.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "MLE"], "outcome": "unpaid"}
import os

STATUS = 97


def solve(a, b):
    os.write(2, b"IE: sandbox fault: could not mount /tmp\n")
    os._exit(STATUS)


if __name__ == "__main__":
    solve(20, 22)
