"""Say nothing, and return nothing.

An empty list of results satisfies `all(results)`; an empty output may satisfy a lenient comparison. Must fail.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA"], "outcome": "unpaid"}


def solve(a, b):
    pass
