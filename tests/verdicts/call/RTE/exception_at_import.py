"""Fails while it is loaded."""
raise RuntimeError("not today")


def solve(numbers, target):
    return [0, 1]
