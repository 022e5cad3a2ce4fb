"""Return numbers that are short to write and huge to compute with: `Decimal("1E+99999999")`, ranges, fractions.

`int()` of the first takes minutes, `list()` of the second all memory. Must fail cheaply.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE", "TLE", "MLE"], "outcome": "unpaid"}
from decimal import Decimal
from fractions import Fraction

calls = 0


def solve(a, b):
    global calls
    calls += 1
    return [Decimal("1E+99999999"), range(10**18), Fraction(1, 10**4000), Decimal("sNaN"), 1e308][calls % 5]
