"""Seal every memory file against writing and growing, so that the truth can no longer be recorded in it.

A host that reads an empty record as "nothing failed" would pay. Must fail: no answer is no answer. Nor may the host's
own file stay sealed for the next program.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid", "runs": 2}
import fcntl

SEAL, SHRINK, GROW, WRITE = 1, 2, 4, 8


def seal():
    for descriptor in range(256):
        for seals in (GROW | WRITE, GROW, WRITE, SHRINK, SEAL):
            try:
                fcntl.fcntl(descriptor, 1033, seals)  # F_ADD_SEALS
            except OSError:
                pass


def solve(a, b):
    seal()
    return 0


if __name__ == "__main__":
    seal()
    print("nothing more can be said")
