"""Return objects, keys and classes whose names hold lone surrogates, so that the report of a failure has them.

Must fail: the tester's report is always written, and always read.
"""
# proctor: {"test": ["assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}

Odd = type("\ud800" * 300, (), {"__repr__": lambda self: "\udfff" * 100_000})


def solve(a, b):
    return {"\ud800": [Odd()], "\udfff" * 1000: Odd}
