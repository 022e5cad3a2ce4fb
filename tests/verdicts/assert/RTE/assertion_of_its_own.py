"""Raises `AssertionError` itself: that is its failure, not the test's finding."""


def solve(text, width):
    assert False, "mine"
