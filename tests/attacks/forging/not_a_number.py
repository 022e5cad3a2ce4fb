"""Answer with not-a-number, infinities and other tokens that a tolerant comparison may let through.

`abs(x - nan) > eps` is false, so "not further away than eps" holds. Must fail.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
VALUES = [float("nan"), float("inf"), -0.0, complex("nan")]
calls = 0


def solve(a, b):
    global calls
    calls += 1
    return VALUES[calls % 4]


if __name__ == "__main__":
    print("nan")
