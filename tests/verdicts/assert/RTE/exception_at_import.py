"""Fails while it is loaded."""
raise RuntimeError("not today")


def solve(text, width):
    return []
