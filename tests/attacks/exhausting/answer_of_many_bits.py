"""Return an integer of sixty million bits, which takes hours to write in decimal digits.

Must fail: integers travel as hexadecimal digits, whose cost is linear, and no message writes it out.
"""
# proctor: {"test": ["assert"], "expect": ["WA", "RTE", "MLE"], "outcome": "unpaid"}


def solve(a, b):
    return (1 << 60_000_000) - 1
