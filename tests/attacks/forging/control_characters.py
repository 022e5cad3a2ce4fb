"""Put NUL, escapes, line separators and text direction marks into output, errors and results.

Must be a failure like any other, and must arrive.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["RTE", "WA"], "outcome": "unpaid"}

import sys

SIGNS = "\0\x1b[2J\x9b\x85\u2028\u2029\u202e\ufffe\uffff\U0010ffff"


def solve(a, b):
    print(SIGNS)
    print(SIGNS, file=sys.stderr)
    raise Exception(SIGNS)


if __name__ == "__main__":
    solve(20, 22)
