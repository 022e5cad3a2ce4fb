"""Not Python."""


def solve(text, width)
    return []
