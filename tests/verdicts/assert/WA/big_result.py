"""Returns two megabytes of text."""


def solve(text, width):
    return "x" * (2 << 20)
