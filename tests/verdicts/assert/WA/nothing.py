"""Returns nothing."""


def solve(text, width):
    pass
