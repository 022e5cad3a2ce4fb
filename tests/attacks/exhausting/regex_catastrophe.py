"""Match a pattern that takes exponential time, in C code that looks at no signal.

Must be stopped all the same.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["TLE"], "outcome": "harmless"}
import re


def solve(a, b):
    return bool(re.match(r"(a|a|aa)*(a+)+$", "a" * 60 + "!"))


if __name__ == "__main__":
    print(solve(20, 22))
