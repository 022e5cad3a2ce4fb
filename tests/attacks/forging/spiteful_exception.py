"""Raise an exception that exits, loops or raises again when anything tries to look at it.

Formatting, comparing or copying it runs the submission's code inside the error path. Must fail, with a plain error.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import os


class Spiteful(Exception):
    @property
    def __class__(self):
        os._exit(0)

    @property
    def __traceback__(self):
        raise SystemExit(0)

    def __str__(self):
        os._exit(0)

    __repr__ = __reduce__ = __str__

    @property
    def args(self):
        os._exit(0)

    @property
    def __notes__(self):
        os._exit(0)


def solve(a, b):
    raise Spiteful


if __name__ == "__main__":
    solve(20, 22)
