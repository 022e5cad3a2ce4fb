"""Drops the last, shorter piece."""


def solve(text, width):
    return [text[i : i + width] for i in range(0, len(text) - width + 1, width)]
