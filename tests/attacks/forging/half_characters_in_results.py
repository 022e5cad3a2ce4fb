"""Return lone surrogates in text, keys, sets and names, which JSON can say and UTF-8 cannot.

Must be a wrong answer: the reason for it quotes the value, and has to be sent all the same.
"""
# proctor: {"test": ["call", "assert"], "expect": ["RTE", "WA"], "outcome": "unpaid"}


def solve(a, b):
    half = "\ud800"
    return {half: {half}, half + "a": [half, (half,), {half: half}], "a" + half: half * 100}
