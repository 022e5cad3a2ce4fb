"""Returns two megabytes of text."""


def solve(numbers, target):
    return "x" * (2 << 20)
