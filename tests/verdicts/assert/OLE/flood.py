"""Prints without end."""


def solve(text, width):
    while True:
        print("0123456789abcde" * 64)
