"""Return a string of a hundred megabytes.

Must fail at the output limit, before the host has read it all.
"""
# proctor: {"test": ["call", "assert"], "expect": ["OLE", "MLE", "RTE", "WA"], "outcome": "harmless"}


def solve(a, b):
    return "long " * 20_000_000
