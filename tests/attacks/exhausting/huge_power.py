"""Compute a power of astronomical size in one C call.

Must be stopped by time or memory.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["TLE", "MLE", "RTE"], "outcome": "harmless"}


def solve(a, b):
    return (a + b) ** (b ** (a // 2)) % 2


if __name__ == "__main__":
    print(solve(20, 22))
