"""Not Python."""


def solve(numbers, target:
    return [0, 1]
