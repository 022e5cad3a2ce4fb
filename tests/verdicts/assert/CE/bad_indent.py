"""Indented by whim."""


def solve(text, width):
        pieces = []
    return pieces
