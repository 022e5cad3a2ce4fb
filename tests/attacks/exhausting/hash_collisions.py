"""Fill a dictionary with keys of one hash: each insertion takes longer than the one before.

Must be stopped by CPU time.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["TLE"], "outcome": "harmless"}
MODULUS = (1 << 61) - 1


def solve(a, b):
    return len({k * MODULUS for k in range(1, 10_000_000)})


if __name__ == "__main__":
    print(solve(20, 22))
