"""Raise an exception whose causes form a ring and whose name and module are no text.

A reporter that walks the chain without an eye for rings never comes back. Must fail as an ordinary error.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "TLE"], "outcome": "unpaid"}


class Ring(Exception):
    __module__ = 7


def solve(a, b):
    first, second = Ring("first"), Ring("\ud800\x00 second")
    first.__cause__, second.__cause__ = second, first
    first.__context__ = second.__context__ = first
    raise first


if __name__ == "__main__":
    solve(20, 22)
