"""Compute for ever.

Must be stopped by CPU time.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["TLE"], "outcome": "harmless"}


def solve(a, b):
    while True:
        pass


if __name__ == "__main__":
    solve(20, 22)
