"""Append for ever, in small objects.

Must fail at the memory limit, or the CPU limit before it.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["MLE", "TLE", "RTE"], "outcome": "harmless"}


def solve(a, b):
    rows = []
    while True:
        rows.append([0] * 1000)


if __name__ == "__main__":
    solve(20, 22)
