"""Return a list that is small in memory and has 2^30 leaves when written out.

Must fail, and the cost must fall on this program's limits, not on the trusted side.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE", "TLE", "MLE", "OLE"], "outcome": "unpaid"}


def solve(a, b):
    value = [1]
    for _ in range(30):
        value = [value, value]
    return value
