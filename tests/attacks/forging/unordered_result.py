"""Return a set, and the tag that stands for one, where a list is expected.

Must fail: a set has no order, so it would be right for any permutation of the expected list.
"""
# proctor: {"test": ["call"], "expect": ["WA"], "outcome": "unpaid"}


def solve(a, b):
    return {"__set__": [a, b]}
