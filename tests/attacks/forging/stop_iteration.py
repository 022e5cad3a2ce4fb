"""Raise `StopIteration` from the candidate: `all(map(candidate, …))` would end early, having seen no failure.

Must fail: it reaches a test only as an ordinary error.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}


class Enough(StopIteration, AssertionError):
    pass


def solve(a, b):
    raise Enough(0)
