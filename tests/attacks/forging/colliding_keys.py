"""Return a set and a dictionary of integers that all have the same hash: rebuilding them takes quadratic time.

Must fail within the program's own limits.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE", "TLE", "OLE"], "outcome": "unpaid"}
MODULUS = (1 << 61) - 1


def solve(a, b):
    return [k * MODULUS for k in range(1, 20_001)]
